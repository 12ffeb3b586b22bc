import type { Phrase } from "./language.tsx";

/** Texts of the page of help. */
export const helpText = {
  title: { is: "Að leiðrétta uppskrift", en: "Correcting a transcript" },
  sub: {
    is: "Frá fyrstu hlustun til skila. Lyklarnir eru þeir sem þú hefur valið.",
    en: "From listening to handing in. The keys are the ones that you have chosen.",
  },
  contents: { is: "Efni síðunnar", en: "On this page" },
} as const;

/** A topic of the page of help. */
interface HelpTopic {
  readonly title: Phrase<string>;
  readonly text: readonly Phrase<string>[];
}

/** The topics of the page of help, in their order. */
export const helpTopics = {
  begin: {
    title: { is: "Að byrja", en: "To begin" },
    text: [
      {
        is: "Opnaðu uppskrift og ýttu á E eða á hnappinn Breyta texta. Textinn, staðurinn á síðunni og hljóðið haldast. Hnappurinn Lesa lýkur breytingum. Vanti hnappinn Breyta texta er þetta eldri útgáfa, sýndir eru skjátextar, eða þú mátt aðeins lesa.",
        en: "Open a transcript and press E or the button Edit text. The text, your place on the page and the audio stay. The button Read ends editing. If there is no button Edit text, this is an earlier version, its subtitles are shown, or you may only read.",
      },
      {
        is: "Hver lykill hér á eftir vinnur meðan bendillinn er í textanum. Þú getur breytt þeim öllum undir Lyklar og stillingar, og valið fylgir þér í annan vafra.",
        en: "The keys below work while the caret is in the text. You can change all of them under Keys and settings, and your choice is the same in every browser.",
      },
    ],
  },
  listen: {
    title: { is: "Að hlusta", en: "Listening" },
    text: [
      {
        is: "Orðið sem heyrist er litað. Smellur setur bendilinn; Ctrl og smellur færir hljóðið að orðinu, og tíminn á spássíunni spilar þaðan.",
        en: "The word that is played is highlighted. A click places the caret; Ctrl with a click seeks to the word, and the time in the margin plays from there.",
      },
      {
        is: "Undir Lyklar og stillingar velur þú hve langt er stokkið til baka við hlé, og hvort hljóðið þagnar eða hægir á sér meðan þú skrifar.",
        en: "Under Keys and settings you choose how far playback jumps back on a pause, and whether it pauses or slows down while you type.",
      },
    ],
  },
  correct: {
    title: { is: "Að leiðrétta", en: "Correcting" },
    text: [
      {
        is: "Skrifaðu beint í textann. Enter skiptir málsgrein. Backspace fremst og Delete aftast sameina tvær. Það sem er límt verður hreinn texti. Allt má afturkalla.",
        en: "Type into the text. Enter divides a paragraph. Backspace at its start and Delete at its end join two. What is pasted becomes plain text. Everything can be undone.",
      },
    ],
  },
  times: {
    title: { is: "Hvað verður um tímana", en: "What happens to the times" },
    text: [
      {
        is: "Óbreytt orð halda tíma sínum. Orð sem koma í stað annarra skipta tíma þeirra með sér, og viðbætt orð fá þögnina þar sem þau standa. Þegar málsgrein er skipt eða tvær sameinaðar fylgir hljóðið orðunum.",
        en: "Unchanged words keep their times. Words that replace others share their time, and inserted words get the pause in which they stand. When a paragraph is divided or two are joined, the audio stays with the words.",
      },
      {
        is: "Byrjun og enda orðsins við bendilinn má færa með lyklum, eða merkja meðan spilað er.",
        en: "The start and the end of the word at the caret can be moved by keys, or marked during playback.",
      },
      {
        is: "Ef tímar hafa skekkst má finna þá alla upp á nýtt: hnappurinn Stilla orð við hljóð, undir Útgáfur, leitar að orðum síðustu vistuðu útgáfu í hljóðinu og vistar tímana sem nýja útgáfu. Þú getur haldið áfram að skrifa á meðan. Óvistaðar breytingar haldast og fá nýju tímana þegar þú vistar. Vistir þú áður en stillingunni lýkur breytir hún engu og þú stillir aftur.",
        en: "If times have become wrong, all of them can be found again: the button Align words to the audio, under Versions, looks for the words of the last saved version in the audio and saves their times as a new version. You can keep typing meanwhile. Unsaved changes stay and get the new times when you save. If you save before the alignment is done, it changes nothing, and you align again.",
      },
    ],
  },
  speakers: {
    title: { is: "Mælendur", en: "Speakers" },
    text: [
      {
        is: "Lykillinn opnar lista: tölustafur eða bókstafur velur mælanda. Þar má líka bæta við nafni og breyta því. Nafnið á spássíunni opnar sama lista; málsgrein án nafns hefur hnapp með punktum.",
        en: "The key opens a list: a digit or a letter chooses the speaker. Names are added and changed there, too. The name in the margin opens the same list; a paragraph without a name has a button with dots.",
      },
    ],
  },
  find: {
    title: { is: "Að leita", en: "Finding" },
    text: [
      {
        is: "Í lestri leitar F, eða hnappurinn Leita, í textanum. Staðirnir birtast í lista og upptakan færist á þann sem þú velur.",
        en: "While you read, F or the Find button searches the text. The places are listed, and the recording moves to the one you choose.",
      },
      {
        is: "Leitað er í öllum textanum. Hver staður birtist í setningu sinni og þú getur hlustað á hann. Þeim sem hakað er við er skipt út í einu lagi.",
        en: "The whole text is searched. Each place is shown in its sentence, and you can listen to it. Those that are ticked are replaced in one step.",
      },
      {
        is: "Orð eru óviss ef talgreinirinn var óviss um þau. Mörkin velur þú undir Lyklar og stillingar, og hvort orðin eru undirstrikuð; í fyrstu er slökkt á hvoru tveggja.",
        en: "Words are unclear if the recognizer was not sure of them. Under Keys and settings you set the limit, and whether the words are underlined; both are off at first.",
      },
    ],
  },
  check: {
    title: { is: "Að fara yfir", en: "Checking" },
    text: [
      {
        is: "Merktu hverja málsgrein sem þú hefur farið yfir. Hver fór yfir hana sést á spássíunni, og bylgjan sýnir hve mikið er yfirfarið og á hvað hefur verið hlustað. Merkin búa ekki til nýja útgáfu.",
        en: "Mark each paragraph that you have checked. The margin shows by whom, and the waveform how much is checked and what was listened to. The marks make no version.",
      },
    ],
  },
  subtitles: {
    title: { is: "Skjátextar", en: "Subtitles" },
    text: [
      {
        is: "Skjátextarnir við hlið textans eru þeir sömu og í skránum sem þú sækir. Þeir fylgja breytingunum þegar þú staldrar við. Sá sem brýtur reglu segir hverja og um hve mikið. Ef þú velur skjátexta fer bendillinn í orð hans.",
        en: "The subtitles next to the text are those of the files that you download. They follow your changes when you pause. One that breaks a rule says which one and by how much. Choosing a subtitle places the caret at its words.",
      },
    ],
  },
  save: {
    title: { is: "Drög og útgáfur", en: "Drafts and versions" },
    text: [
      {
        is: "Drög vistast sjálf: í vafranum innan tveggja sekúndna og í þjónustunni á hálfrar mínútu fresti, í 30 daga. Þau opnast aftur næst þegar þú breytir textanum, líka í öðrum vafra. Sé vafranum lokað fyrirvaralaust tapast mest tvær sekúndur.",
        en: "Drafts save themselves: in the browser within two seconds, and on the service every half minute, for 30 days. They open again the next time you edit the text, in another browser, too. If the browser is killed, at most two seconds are lost.",
      },
      {
        is: "Útgáfa verður til þegar þú vistar, með athugasemd ef þú vilt. Aðrir sjá hana, og engin þeirra glatast: á síðu uppskriftarinnar má skoða þær, bera þær saman og endurheimta.",
        en: "A version is saved when you say so, with a note if you like. Others see it, and every version is kept: the page of the transcript lists, compares and restores them.",
      },
      {
        is: "Ef þú hættir að breyta með óvistuðum breytingum spyr síðan: Enter vistar útgáfu, Escape heldur áfram. Farir þú á aðra síðu verður engin útgáfa til, en drögin bíða og opnast þegar þú kemur aftur.",
        en: "If you stop editing with unsaved changes, the page asks: Enter saves a version, Escape keeps editing. If you go to another page, no version is made; the draft waits, and opens when you come back.",
      },
      {
        is: "Sé ekkert samband er textinn kyrr á síðunni og vistast þegar það kemst á. Renni innskráningin út skráir þú þig inn aftur og heldur áfram. Þegar þú skráir þig út spyr síðan um óvistuð drög.",
        en: "Without a connection, the text stays on the page, and is saved once you are online again. If your session ends, sign in again and continue. Signing out asks about unsaved drafts.",
      },
    ],
  },
  others: {
    title: { is: "Þegar fleiri vinna saman", en: "When others work on it, too" },
    text: [
      {
        is: "Meðan þú breytir sést efst í textanum hverjir aðrir hafa hann opinn, og meðan þú lest sést það við hlið hans: hver les, hver breytir og hvar. Í einum vafra er sama texta aðeins breytt í einum flipa; annar flipi getur tekið við með drögunum. Hafi annar vistað útgáfu á meðan falla breytingar hans að þínum, orð fyrir orð. Hafið þið breytt sömu orðum sýnir síðan þín orð, hans og bæði, með hljóðinu, og þú velur áður en vistað er.",
        en: "While you edit, the top of the text shows who else has it open; while you read, this is next to the text: who reads, who edits, and where. In one browser a text is edited in one tab only; another tab can take it over with the draft. If someone has saved a version in the meantime, the changes of both are joined word by word. Where both have changed the same words, the page shows yours, theirs and both, with the audio, and you choose before it is saved.",
      },
    ],
  },
  pedals: {
    title: { is: "Fótstig", en: "Pedals" },
    text: [
      {
        is: "Fótstig sem sendir spilunarlykla (Play, Next, Previous) virkar strax, einnig þegar annar gluggi er fremst: það spilar, gerir hlé með sama stökki til baka og lykillinn, og færir spilunina um tvær sekúndur.",
        en: "A pedal that sends media keys (Play, Next, Previous) works at once, also while another window is in front: it plays, pauses with the same jump back as the key, and moves playback by two seconds.",
      },
      {
        is: "Sendi fótstigið aðra lykla skaltu opna Lyklar og stillingar, velja Bæta við lykli og stíga á það.",
        en: "If the pedal sends other keys, open Keys and settings, press Add a key, and step on the pedal.",
      },
    ],
  },
  keyboard: {
    title: { is: "Með lyklaborði eingöngu", en: "With the keyboard only" },
    text: [
      {
        is: "Lyklarnir hér að neðan fara á milli hluta síðunnar og út úr textanum. Tab spilar frá bendlinum; undir Lyklar og stillingar má láta hann færa sig á milli hnappa í staðinn.",
        en: "The keys below walk through the parts of the page and leave the text. Tab plays from the caret; under Keys and settings it can be set to move between controls.",
      },
    ],
  },
  handIn: {
    title: { is: "Að skila", en: "Handing in" },
    text: [
      {
        is: "Við hlið textans má sækja hann sem SRT, VTT, texta, Word, ODT eða JSON, með nöfnum, tímum og fyrirsögn að vild. Þar eru líka tenglar sem leyfa öðrum að lesa án reiknings, með eða án hljóðs, þar til þeir renna út eða eru afturkallaðir. Síðan prentast án hnappa.",
        en: "Next to the text it is downloaded as SRT, VTT, text, Word, ODT or JSON, with names, times and heading as you choose. Links are made there, too, with which others read without an account, with or without the audio, until they expire or are revoked. The page prints without controls.",
      },
    ],
  },
} as const satisfies Readonly<Record<string, HelpTopic>>;
