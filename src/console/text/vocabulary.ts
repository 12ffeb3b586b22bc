import { counted } from "./counted.ts";
import type { Problems } from "./problems.ts";

/** Texts of the vocabulary page. */
export const vocabularyText = {
  sub: {
    is: "Nöfn og orð sem Hlust á að þekkja þegar þau eru sögð.",
    en: "Names and terms that Hlust should recognize when they are said.",
  },
  add: { is: "Bæta við", en: "Add" },
  importLines: { is: "Flytja inn lista", en: "Import a list" },
  states: { is: "Staða", en: "State" },
  stateOf: {
    ACTIVE: { is: "Í notkun", en: "In use" },
    CANDIDATE: { is: "Tillögur", en: "Suggestions" },
    REJECTED: { is: "Hafnað", en: "Rejected" },
  },
  noneOf: {
    ACTIVE: {
      is: "Ekkert orð enn. Bættu við nöfnum á fólki og stöðum, og fagorðum.",
      en: "No words yet. Add names of people and places, and technical terms.",
    },
    CANDIDATE: {
      is: "Engar tillögur. Þegar einhver leiðréttir orð í uppskrift birtist nýja orðið hér.",
      en: "No suggestions. When someone corrects a word in a transcript, the new word appears here.",
    },
    REJECTED: {
      is: "Engu hefur verið hafnað. Það sem er hafnað er ekki boðið aftur.",
      en: "Nothing is rejected. Rejected words are not suggested again.",
    },
  },
  weight: {
    is: (weight: string) => `vægi ${weight}`,
    en: (weight: string) => `weight ${weight}`,
  },
  soundsLike: {
    is: (texts: string) => `hljómar eins og ${texts}`,
    en: (texts: string) => `sounds like ${texts}`,
  },
  corrections: {
    is: (count: number) => `leiðrétt ${counted("is", count, "sinni", "sinnum")}`,
    en: (count: number) => `corrected ${counted("en", count, "time", "times")}`,
  },
  more: { is: "Sýna fleiri", en: "Show more" },
  edit: { is: "Breyta", en: "Edit" },
  accept: { is: "Samþykkja", en: "Accept" },
  reject: { is: "Hafna", en: "Reject" },
  remove: { is: "Eyða", en: "Delete" },
  actionOf: {
    is: (action: string, phrase: string) => `${action}: ${phrase}`,
    en: (action: string, phrase: string) => `${action}: ${phrase}`,
  },
  accepted: {
    is: (phrase: string) => `„${phrase}“ er í notkun.`,
    en: (phrase: string) => `“${phrase}” is in use.`,
  },
  rejected: {
    is: (phrase: string) => `„${phrase}“ var hafnað.`,
    en: (phrase: string) => `“${phrase}” was rejected.`,
  },
  removed: {
    is: (phrase: string) => `„${phrase}“ var eytt.`,
    en: (phrase: string) => `“${phrase}” was deleted.`,
  },
  saved: {
    is: (phrase: string) => `„${phrase}“ var vistað.`,
    en: (phrase: string) => `“${phrase}” was saved.`,
  },
  removeTitle: {
    is: (phrase: string) => `Eyða „${phrase}“?`,
    en: (phrase: string) => `Delete “${phrase}”?`,
  },
  removeNext: {
    is: "Hlust hættir að búast við orðinu. Leiðréttingar geta boðið það aftur.",
    en: "Hlust no longer expects the word. Corrections can suggest it again.",
  },
  phrase: { is: "Orð eða orðasamband", en: "Word or phrase" },
  phraseMissing: { is: "Skrifaðu orð.", en: "Enter a word." },
  language: { is: "Tungumál þess", en: "Its language" },
  weightLabel: { is: "Vægi (0 til 20)", en: "Weight (0 to 20)" },
  weightHint: {
    is: "Hversu fast er haldið í orðið. 10 hentar flestum.",
    en: "How strongly the word is preferred. 10 suits most words.",
  },
  soundsLikeLabel: { is: "Hljómar eins og", en: "Sounds like" },
  soundsLikeHint: {
    is: "Ef það er ekki borið fram eins og það er skrifað. Kommur á milli, mest fimm.",
    en: "If it is not pronounced as it is written. Up to five, separated by commas.",
  },
  lines: { is: "Eitt orð eða orðasamband í línu", en: "One word or phrase per line" },
  linesMissing: { is: "Límdu inn að minnsta kosti eina línu.", en: "Paste at least one line." },
  linesHint: {
    is: "Það sem er þegar í notkun er látið ósnert. Annaðhvort er allt flutt inn eða ekkert.",
    en: "Words that are already in use stay as they are. Either everything is imported, or nothing.",
  },
  importNow: { is: "Flytja inn", en: "Import" },
  imported: {
    is: (count: number, skipped: number) =>
      `${counted("is", count, "orð flutt inn", "orð flutt inn")}, ${skipped} voru fyrir.`,
    en: (count: number, skipped: number) =>
      `${counted("en", count, "word", "words")} imported, ${skipped} already there.`,
  },
  notImported: {
    is: "Ekkert var flutt inn. Lagfærðu þessar línur:",
    en: "Nothing was imported. Correct these lines:",
  },
  line: {
    is: (line: number) => `Lína ${line}`,
    en: (line: number) => `Line ${line}`,
  },
} as const;

/** Problems that only vocabularies have. */
export const vocabularyProblems: Problems = {
  VOCABULARY_FULL: {
    sentence: {
      is: "Orðaforðinn er fullur: 5.000 orð geta verið í notkun.",
      en: "The vocabulary is full: 5,000 words can be in use.",
    },
    next: {
      is: "Eyddu orðum sem koma ekki lengur fyrir og reyndu aftur.",
      en: "Delete words that no longer occur, and try again.",
    },
  },
  PHRASE_NOT_FOUND: {
    sentence: { is: "Orðið er ekki lengur til.", en: "The word no longer exists." },
    next: {
      is: "Einhver hefur þegar eytt því. Hladdu síðunni aftur.",
      en: "It has already been deleted. Reload the page.",
    },
  },
};
