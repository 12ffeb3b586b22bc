import { formsOfNames } from "../declined-names.ts";

/**
 * Places, countries and their people, with their cases. Adjectives and languages ("íslenskur",
 * "íslenska") and the names of months and weekdays are in small letters (Ritreglur, II).
 */
export const places: ReadonlySet<string> = formsOfNames(`
  Ísland||i|s Reykjavík||ur Akureyr|i|ar Kópavog|ur||i|s Hafnarf|jörður|jörð|irði|jarðar Garðabæ||r|jar
  Mosfellsbæ||r|jar Keflavík||ur Reykjanesbæ||r|jar Selfoss||i Akranes||i|s Ísaf|jörður|jörð|irði|jarðar
  Egilsst|aðir|aði|öðum|aða Vestmannaeyj|ar|um|a Húsavík||ur Borgarnes||i|s Seltjarnarnes||i|s
  Sauðárkrók|ur||i|s Sigluf|jörður|jörð|irði|jarðar Ólafsf|jörður|jörð|irði|jarðar Dalvík||ur
  Neskaupstað|ur||ar Seyðisf|jörður|jörð|irði|jarðar Eskif|jörður|jörð|irði|jarðar
  Reyðarf|jörður|jörð|irði|jarðar Stykkishólm|ur||i|s Grindavík||ur Hveragerð|i|is Þorlákshöfn Þorlákshafnar
  Grundarf|jörður|jörð|irði|jarðar Patreksf|jörður|jörð|irði|jarðar Bolungarvík||ur Blönduós||i|s
  Hvammstang|i|a Hólmavík||ur Djúpavog|ur||i|s Kirkjubæjarklaustur Hvolsvöll|ur Hvolsvelli Hvolsvallar
  Þingvell|ir|i Þingvöllum Þingvalla Mývatn||i|s Geysi Gullfoss||i Vatnajökul|l||s Eyjafjallajökul|l||s
  Hornstr|andir|öndum|anda Vestf|irðir|irði|jörðum|jarða Austf|irðir|irði|jörðum|jarða
  Norðurland||i|s Suðurland||i|s Vesturland||i|s Austurland||i|s Suðurnes|jum|ja Breiðholt||i|s
  Grafarvog|ur||i|s Laugaveg|ur||i|s Árbæ||r Esj|u|an|una|unni|unnar Þórsm|örk|erkur
  Hrafnseyr|i|ar Ásbyrgi||s Dettifoss||i Skaftafell||i|s Landmannalaug|ar|um|a Raufarh|öfn|afnar
  Vopnaf|jörður|jörð|irði|jarðar Kópasker||i|s Snæfellsnes||i|s Reykjanes||i|s
  Skagaf|jörður|jörð|irði|jarðar Eyjaf|jörður|jörð|irði|jarðar
  Breiðaf|jörður|jörð|irði|jarðar Faxaflói Faxaflóa Alþingi||s Landspítal|i|a|inn|anum|ans
  Evróp|a|u Afrík|a|u Asía Asíu Ástralí|a|u Amerík|a|u Norðurl|önd|öndum|anda Skandinaví|a|u
  Danm|örk|erkur|örku Nor|egur|eg|egi|egs Svíþjóð||ar Finnland||i|s Færeyj|ar|um|a Grænland||i|s
  Bretland||i|s England||i|s Skotland||i|s Írland||i|s Þýskaland||i|s Frakkland||i|s Spán|n||i|ar
  Ítalí|a|u Portúgal||s Pólland||i|s Rússland||i|s Úkraín|a|u Holland||i|s Belgí|a|u Sviss
  Austurríki||s Grikkland||i|s Tyrkland||i|s Bandarík|in|junum|janna Kanada Kín|a Japan||s Indland||i|s
  Litháen||s Lettland||i|s Eistland||i|s Ungverjaland||i|s Tékkland||i|s Ísrael||s Palestín|a|u
  Sýrland||i|s Egyptaland||i|s Brasilí|a|u Argentín|a|u Mexíkó||s
  Kaupmannahöfn Kaupmannahafnar Ósló||ar Stokkhólm|ur||i|s Helsinki Þórshöfn Þórshafnar Nuuk
  Lundún|ir|um|a London París||ar Berlín||ar Róm||ar Madríd||ar Brussel Amsterdam Moskv|a|u Varsjá||r
  Washington Boston
  Íslending|ur||i|s|ar|um|a Dan|ir Norðm|aður|ann|enn|önnum|anna Svíar Svíum Svía Finnar
  Færeyingar Færeying|ur||um|a Grænlending|ur||ar|um|a Englending|ur||ar|um|a Bret|ar|um Þjóðverj|i|a|ar|um
  Frakk|ar|um Spánverj|i|a|ar|um Ítalir Pólverj|i|a|ar|um Rúss|i|ar|um Bandaríkjam|aður|ann|enn|önnum|anna
  Reykvíking|ur||ar|um|a Akureyring|ur||ar|um|a Kínverj|i|a|ar|um
`);
