import { counted } from "./counted.ts";
import type { Problems } from "./problems.ts";

/** Texts of the list of transcripts. */
export const transcriptsText = {
  newJob: { is: "Ný uppskrift", en: "New transcript" },
  count: {
    is: (count: number) => counted("is", count, "uppskrift", "uppskriftir"),
    en: (count: number) => counted("en", count, "transcript", "transcripts"),
  },
  newestFirst: { is: "Þær nýjustu efst", en: "Newest first" },
  found: {
    is: (count: number) => counted("is", count, "uppskrift fannst", "uppskriftir fundust"),
    en: (count: number) => `${counted("en", count, "transcript", "transcripts")} found`,
  },
  foundSome: { is: "Uppskriftir sem fundust, þær nýjustu efst", en: "Found, newest first" },
  search: { is: "Leit að uppskriftum", en: "Search for transcripts" },
  searchTitles: { is: "Leita í titlum", en: "Search titles" },
  keywordInstead: {
    is: (text: string) => `Leita heldur að efnisorðinu „${text}“`,
    en: (text: string) => `Search for the keyword “${text}” instead`,
  },
  withKeyword: {
    is: (text: string) => `Sýna aðeins með efnisorðinu „${text}“`,
    en: (text: string) => `Show only with the keyword “${text}”`,
  },
  withoutKeyword: {
    is: (text: string) => `Taka efnisorðið „${text}“ úr leitinni`,
    en: (text: string) => `Take the keyword “${text}” out of the search`,
  },
  showAll: { is: "Sýna allar", en: "Show all" },
  list: { is: "Uppskriftir", en: "Transcripts" },
  untitled: { is: "Án titils", en: "Untitled" },
  voices: {
    is: (count: number) => counted("is", count, "rödd", "raddir"),
    en: (count: number) => counted("en", count, "voice", "voices"),
  },
  changed: {
    is: (date: string) => `breytt ${date}`,
    en: (date: string) => `edited ${date}`,
  },
  loadingMore: { is: "Sæki fleiri…", en: "Loading more…" },
  none: { is: "Engar uppskriftir enn", en: "No transcripts yet" },
  noneNext: {
    is: "Sendu upptöku eða talaðu í hljóðnemann. Uppskriftin stendur hér þegar hún er tilbúin.",
    en: "Send a recording, or speak into the microphone. The transcript is here once it is ready.",
  },
  noneToSee: {
    is: "Hér birtast uppskriftir þegar einhver á reikningnum sendir upptöku.",
    en: "Transcripts are here once somebody of the account has sent a recording.",
  },
  speak: { is: "Tala í hljóðnemann", en: "Speak into the microphone" },
  nothingFound: { is: "Ekkert fannst", en: "Nothing found" },
  noSubject: {
    is: (text: string) =>
      `Engin uppskrift hefur „${text}“ í titlinum. Prófaðu styttri hluta af orði, eða annað orð: stórir og litlir stafir eru jafngildir, en a og á eru hvor sinn stafurinn.`,
    en: (text: string) =>
      `No transcript has “${text}” in its title. Try a shorter part of a word, or another one: capitals do not matter, but a and á are two letters.`,
  },
  noKeyword: {
    is: (texts: readonly string[]) =>
      texts.length === 1
        ? `Engin uppskrift hefur efnisorðið ${quotedIs(texts)}. Efnisorð þarf að skrifa nákvæmlega eins, með sömu stóru og litlu stöfum.`
        : `Engin uppskrift hefur öll efnisorðin ${quotedIs(texts)}. Taktu eitt þeirra úr leitinni.`,
    en: (texts: readonly string[]) =>
      texts.length === 1
        ? `No transcript has the keyword ${quotedEn(texts)}. Keywords have to be written exactly as they are, with the same capitals.`
        : `No transcript has all of the keywords ${quotedEn(texts)}. Take one of them out of the search.`,
  },
} as const;

/** What can go wrong with a search alone. */
export const searchProblems: Problems = {
  FILTER_TOO_SLOW: {
    sentence: { is: "Leitin tók of langan tíma.", en: "The search took too long." },
    next: {
      is: "Leitaðu að lengra broti úr orði: þrír stafir eða fleiri í röð finnast fljótt.",
      en: "Search for a longer part of a word: three letters in a row or more are found at once.",
    },
  },
  SEARCHES_BUSY: {
    sentence: { is: "Margar leitir bíða núna.", en: "Many searches are waiting." },
    next: { is: "Reyndu aftur eftir augnablik.", en: "Try again in a moment." },
  },
};

function quotedIs(texts: readonly string[]): string {
  return texts.map((text) => `„${text}“`).join(", ");
}

function quotedEn(texts: readonly string[]): string {
  return texts.map((text) => `“${text}”`).join(", ");
}
