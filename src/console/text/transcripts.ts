import { counted } from "./counted.ts";

/** Texts of the transcripts page. */
export const transcriptsText = {
  newJob: { is: "Ný uppskrift", en: "New transcript" },
  count: {
    is: (count: number) => counted("is", count, "uppskrift", "uppskriftir"),
    en: (count: number) => counted("en", count, "transcript", "transcripts"),
  },
  sortOf: {
    changed: { is: "Síðast breytt efst", en: "Last changed first" },
    oldest: { is: "Elst breyting efst", en: "Oldest change first" },
    title: { is: "Eftir titli", en: "By title" },
    longest: { is: "Lengst efst", en: "Longest first" },
    shortest: { is: "Styst efst", en: "Shortest first" },
  },
  bin: { is: "Rusl", en: "Bin" },
  importFiles: { is: "Flytja inn", en: "Import" },
  filters: { is: "Síur", en: "Filters" },
  found: {
    is: (count: number) => counted("is", count, "uppskrift fannst", "uppskriftir fundust"),
    en: (count: number) => `${counted("en", count, "transcript", "transcripts")} found`,
  },
  foundSome: {
    is: "Uppskriftir sem fundust, síðast breytt efst",
    en: "Transcripts found, last changed first",
  },
  search: { is: "Leit að uppskriftum", en: "Search for transcripts" },
  searchTitles: { is: "Leita í titlum", en: "Search titles" },
  keywordInstead: {
    is: (text: string) => `Leita heldur að efnisorðinu „${text}“`,
    en: (text: string) => `Search by keyword “${text}” instead`,
  },
  withKeyword: {
    is: (text: string) => `Sýna aðeins með efnisorðinu „${text}“`,
    en: (text: string) => `Show only transcripts with keyword “${text}”`,
  },
  withoutKeyword: {
    is: (text: string) => `Taka efnisorðið „${text}“ úr leitinni`,
    en: (text: string) => `Remove keyword “${text}” from the search`,
  },
  showAll: { is: "Sýna allar", en: "Show all" },
  list: { is: "Uppskriftir", en: "Transcripts" },
  untitled: { is: "Án titils", en: "Untitled" },
  select: {
    is: (subject: string) => `Velja „${subject}“`,
    en: (subject: string) => `Select “${subject}”`,
  },
  noneFiltered: {
    is: "Engin uppskrift fellur að síunum. Taktu einhverja þeirra af.",
    en: "No transcript matches the filters. Remove one of them.",
  },
  speakers: {
    is: (count: number) => counted("is", count, "mælandi", "mælendur"),
    en: (count: number) => counted("en", count, "speaker", "speakers"),
  },
  changed: {
    is: (date: string) => `breytt ${date}`,
    en: (date: string) => `edited ${date}`,
  },
  loadingMore: { is: "Sæki fleiri…", en: "Loading more…" },
  none: { is: "Engar uppskriftir enn", en: "No transcripts yet" },
  noneNext: {
    is: "Sendu upptöku eða talaðu í hljóðnemann. Uppskriftin stendur hér þegar hún er tilbúin.",
    en: "Submit a recording or speak into the microphone. The transcript appears here when it is ready.",
  },
  noneToSee: {
    is: "Hér birtast uppskriftir þegar einhver á reikningnum sendir upptöku.",
    en: "Transcripts appear here when a member of the account submits a recording.",
  },
  speak: { is: "Tala í hljóðnemann", en: "Speak into the microphone" },
  nothingFound: { is: "Ekkert fannst", en: "Nothing found" },
  noSubject: {
    is: (text: string) =>
      `Engin uppskrift hefur „${text}“ í titlinum. Prófaðu styttri hluta af orði, eða annað orð: stórir og litlir stafir eru jafngildir, en a og á eru hvor sinn stafurinn.`,
    en: (text: string) =>
      `No transcript has “${text}” in its title. Try a shorter part of a word, or another word. Upper and lower case are treated alike, but a and á are different letters.`,
  },
  noKeyword: {
    is: (texts: readonly string[]) =>
      texts.length === 1
        ? `Engin uppskrift hefur efnisorðið ${quotedIs(texts)}. Efnisorð þarf að skrifa nákvæmlega eins, með sömu stóru og litlu stöfum.`
        : `Engin uppskrift hefur öll efnisorðin ${quotedIs(texts)}. Taktu eitt þeirra úr leitinni.`,
    en: (texts: readonly string[]) =>
      texts.length === 1
        ? `No transcript has the keyword ${quotedEn(texts)}. Keywords must match exactly, including upper and lower case.`
        : `No transcript has all of the keywords ${quotedEn(texts)}. Remove one of them from the search.`,
  },
} as const;

function quotedIs(texts: readonly string[]): string {
  return texts.map((text) => `„${text}“`).join(", ");
}

function quotedEn(texts: readonly string[]): string {
  return texts.map((text) => `“${text}”`).join(", ");
}
