import { formsOfNames } from "../declined-names.ts";

/**
 * Given names that are common in Iceland and are not also common words, with their cases: stem and
 * endings. The names are chosen from those that most people bear (Hagstofa Íslands publishes
 * counts); names that are words too are in ambiguousGivenNames.
 */
export const givenNames: ReadonlySet<string> = formsOfNames(`
  Jón||i|s Sigurð|ur||i|ar Guðmund|ur||i|ar Gunnar||i|s Ólaf|ur||i|s Einar||i|s Kristján||i|s
  Magnús||i|ar Stefán||i|s Jóhann||i|s Birg|ir|i|is Bjarn|i|a Árn|i|a Ragnar||i|s Helg|u
  Páll Pál||i|s Guðjón||i|s Pét|ur||ri Pétr|i|s Pétur|s Halldór||i|s Þorstein|n||i|s Kjartan||i|s
  Arnar||i|s Andr|i|a Daníel||i|s Davíð||s Róbert||i|s Tómas||i|ar Þórð|ur||i|ar Hauk|i|s
  Friðrik||i|s Jónas||i|ar Jakob||i|s Aron||i|s Atl|i|a Ágúst|i|s Alexander||s Viktor||i|s
  Sigurjón||i|s Hermann||i|s Benedikt||i|s Sverr|ir|i|is Vilhjálm|ur||i|s Eirík|ur||i|s Hilmar||i|s
  Rúnar||i|s Óskar||i|s Ingvar||i|s Ívar||i|s Baldur Baldr|i|s Trausta Eyþór||i|s Elías||i|ar
  Hannes||i|ar Hjalti Hjalta Njál|l||i|s Egil|l||s Kár|i|a Skúl|i|a Snorr|i|a Gísl|i|a Ingi|mar
  Ingólf|ur||i|s Jóel||s Marteinn Matthías||i|ar Mikael||s Óðin|n||s Ottó||s Rafn|i|s Samúel||s
  Símon||i|ar Sindr|i|a Styrm|ir|i|is Theódór||s Þorvald|ur||i|ar Þorgeir||i|s Þorkel|l||s
  Ögmund|ur||i|ar Örlyg|ur||i|s Brynjar||i|s Bragi Braga Elvar||i|s Garðar||i|s Geir||i|s
  Grét|ar|ari|ars Gylf|i|a Hallgrím|ur||i|s Hafstein|n||i|s Hörð|ur Höskuld|ur||i|ar Ísak||s
  Jökull Kristin|n Kristn|i Kristins Kristóf|er|ers Lárus||i|ar Leif|ur||i|s Ómar||i|s Pálma
  Reyn|ir Sigfús||i|ar Sigmund|ur||i|ar Sigþór||i|s Steingrím|ur||i|s Steinþór||i|s Sævar||i|s
  Valdimar||s Valgeir||i|s Valtýr||s Víðir Víkingur Yngv|i|a Þórarin|n Þórarins Þórhall|ur||i|s
  Þórir Þóris Þráin|n||s Össur||ar Dag|s Ara
  Guðrún||u|ar Anna Önnu Kristín||u|ar Sigríð|ur||i|ar Margrét||i|ar Helg|u Ingibjörg||u|
  Ingibjargar Jóhann|a Jóhönnu Elín||u|ar Katrín||u|ar Ev|a|u Sar|a Söru Mar|ía|íu Sigrún||u|ar
  Guðbjörg||u Guðbjargar Hild|ur|i|ar Ragnheið|ur|i|ar Elísabet||u|ar Rakel||ar Birgitt|a|u
  Sólveig||u|ar Rannveig||u|ar Ragnhild|ur|i|ar Þórunn||i|ar Unn|i|ar Steinunn||i|ar Hrafnhild|ur|i|ar
  Áslaug||u|ar Ásdís||i|ar Hjördís||i|ar Vigdís||i|ar Þórdís||i|ar Bryndís||i|ar Herdís||i|ar
  Valgerð|ur|i|ar Ragn|a Rögnu Ing|a|u Ingunn||i|ar Iðunn||i|ar Ágúst|a|u Andre|a|u Arndís||i|ar
  Auð|ur|i|ar Berglind||i|ar Björg||u Bjargar Dagbjört|u Dagný||ju|jar Edd|a|u Erl|a|u Emil|ía|íu
  Ester||ar Fríð|a|u Freyj|a|u Gerð|ur|i|ar Guðlaug||u|ar Guðn|ý|ýju|ýjar Gunnhild|ur|i|ar Hafdís||i|ar
  Hann|a Hönnu Hall|a Höllu Halldór|a|u Heið|a|u Heiðrún||u|ar Helen|a|u Hrefn|a|u Hulda Huldu
  Íris||i|ar Jón|a|u Jónín|a|u Júl|ía|íu Karen||ar Karitas||i|ar Kolbrún||u|ar Kristjan|a|u
  Kristrún||u|ar Laufey||ju|jar Lind|a|u Lovís|a|u Lár|a|u Mart|a Mörtu Matthild|ur|i|ar Ólöf||u
  Ólafar Ólafí|a|u Pálín|a|u Rebekk|a|u Rut||ar Salóm|e Salvör||u Selm|a|u Sigurbjörg||u Sigurlaug||u|ar
  Signý||ju|jar Silj|a|u Snædís||i|ar Sofí|a|u Soff|ía|íu Stefan|ía|íu Sunn|a|u Svandís||i|ar
  Svanhild|ur|i|ar Svav|a Svövu Sædís||i|ar Telm|a|u Thelm|a|u Tinn|a|u Tanj|a|u Ugl|u Vilborg||u|ar
  Védís||i|ar Þorbjörg||u Þorbjargar Þorgerð|ur|i|ar Þór|a|u Þóre|y Þórhild|ur|i|ar Þuríð|ur|i|ar
  Álfheið|ur|i|ar Ásgerð|ur|i|ar Ásthild|ur|i|ar Ólín|a|u Katl|a Kötlu Embl|a|u Aþen|a|u
`);

/**
 * Given names that are common words too ("björn" is a bear, "dagur" a day). They have a capital
 * next to another name or in front of a patronymic.
 */
export const ambiguousGivenNames: ReadonlySet<string> = formsOfNames(`
  Björn Birni Bjarnar Björns Dag|ur||i Örn Erni Arnar Stein|n||i|s Svein|n||i|s Karl||i|s Helgi Helga
  Finn|ur||i|s Hauk|ur Hrafn||i|s Hlyn|ur||i|s Ari Mán|i|a Log|i|a Trausti Pálmi Jökl|i|s Úlf|ur||i|s
  Þór||i|s Heim|ir|i|is Ágúst Víð|i Alda Öldu Bár|a|u Björk Bjarkar Fjól|a|u Lilj|a|u Rós||ar Sól||ar
  Ósk||ar Von||ar Vala Völu Ásta Ástu Harpa Hörpu Björt Birta Birtu Ás|a|u Unnur Eik Ýr Ýri Hekl|a|u
  Svan|ur||i|s Örv|ar Orr|i|a Frost|i|a Sturl|a|u Dögg Daggar Sjöfn Hlíf||ar Fanney||ju|jar Una Unu Óli Óla
  Nói Nóa Emil||s Max Stormur Steinar||s Breki Breka Sölvi Sölva Kári Tumi Hilma Hilmu Magnea Magneu
  Brynja Brynju Bergur Berg|i|s Bergþór||i|s Oddur Odd|i|s Grímur Grím|i|s Hólm Ármann||i|s
`);

/** Family names; most Icelanders have patronymics instead. */
export const familyNames: ReadonlySet<string> = formsOfNames(`
  Laxness Thoroddsen Briem Thors Blöndal Steinarr Möller Nordal Zoëga Schram Thorlacius Hansen
  Stephensen Thorarensen Thorsteinsson Gröndal Kvaran Kamban Sveinbjörnsson Claessen Hjaltalín
  Bachmann Waage Nielsen Petersen Jensen Olsen Andersen Norðdahl Guðjohnsen Arnalds Vídalín
`);
