import { counted } from "./counted.ts";

/** Texts of the page that imports files as transcripts. */
export const importText = {
  title: { is: "Innflutningur", en: "Import" },
  sub: {
    is: "Skjátextar, texti og uppskriftir sem þegar eru til. Upptökunni má bæta við á eftir.",
    en: "Subtitles, text and transcripts that you already have. The recording can be added afterwards.",
  },
  drop: { is: "Dragðu skrár hingað, eða", en: "Drop files here, or" },
  choose: { is: "veldu skrár", en: "choose files" },
  formats: {
    is: "Skjátextar (SRT, WebVTT), texti (TXT) eða uppskrift sem var sótt héðan (JSON). Mest 8 MB.",
    en: "Subtitles (SRT, WebVTT), text (TXT), or a transcript that was downloaded here (JSON). At most 8 MB.",
  },
  textHint: {
    is: "Í texta skilja auðar línur að málsgreinar. [00:01:23] er tími orðanna á eftir og „Anna:“ fremst nefnir mælanda.",
    en: "In text, empty lines separate paragraphs. [00:01:23] is the time of the words after it, and “Anna:” at the beginning names a speaker.",
  },
  none: { is: "Veldu skrá.", en: "Choose a file." },
  files: { is: "Skrár sem á að flytja inn", en: "Files to import" },
  subject: { is: "Titill", en: "Title" },
  ownSubject: { is: "Titillinn í skránni", en: "The title in the file" },
  kinds: {
    SRT: { is: "skjátextar", en: "subtitles" },
    VTT: { is: "WebVTT-skjátextar", en: "WebVTT subtitles" },
    TEXT: { is: "texti", en: "text" },
    JSON: { is: "uppskrift", en: "transcript" },
  },
  remove: { is: "Fjarlægja", en: "Remove" },
  removeFile: { is: (name: string) => `Fjarlægja ${name}`, en: (name: string) => `Remove ${name}` },
  language: { is: "Á hvaða máli er textinn?", en: "Which language is the text in?" },
  submit: { is: "Flytja inn", en: "Import files" },
  done: { is: "Búið að flytja inn", en: "Imported" },
  imported: {
    is: (count: number) => counted("is", count, "skrá flutt inn", "skrár fluttar inn"),
    en: (count: number) => `${counted("en", count, "file", "files")} imported`,
  },
  notImported: {
    is: (count: number) =>
      `Ekki tókst að flytja inn ${counted("is", count, "skrá", "skrár")}. Ástæðan er við hverja skrá.`,
    en: (count: number) =>
      `${counted("en", count, "file", "files")} could not be imported. The reason is next to each.`,
  },
  notAllowed: {
    is: "Þú mátt skoða uppskriftir en ekki búa þær til. Eigandi reikningsins getur breytt því.",
    en: "You can view transcripts but not create them. An owner of the account can change that.",
  },
  notText: {
    is: "Hér þarf SRT-, VTT-, TXT- eða JSON-skrá.",
    en: "Choose an SRT, VTT, TXT or JSON file.",
  },
  tooLarge: {
    is: "Skráin er of stór: mest má flytja inn 8 MB.",
    en: "The file is too large: at most 8 MB can be imported.",
  },
  unreadable: {
    is: "Ekki tókst að lesa skrána. Veldu hana aftur.",
    en: "The file could not be read. Choose it again.",
  },
} as const;
