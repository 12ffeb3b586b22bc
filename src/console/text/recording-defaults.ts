import { counted } from "./counted.ts";

/** Texts of the account's defaults for new recordings, and of the options of a new recording. */
export const recordingDefaultsText = {
  title: { is: "Sjálfgildi nýrra upptaka", en: "Defaults for new recordings" },
  next: {
    is: "Sjálfvalið þegar einhver á reikningnum býr til uppskrift hér í stjórnborðinu. Velji fólk annað mál eða annan rithátt fær það sitt síðasta val næst. API-köll nota þetta ekki.",
    en: "Preset when anyone in the account makes a transcript in the console. People who choose another language or other punctuation get their last choice the next time. API requests do not use them.",
  },
  readOnly: {
    is: "Eigendur reikningsins ráða þeim.",
    en: "Owners of the account set them.",
  },
  writing: { is: "Ritháttur", en: "Writing" },
  asSpoken: { is: "Orðin eins og þau eru sögð", en: "Words as they are spoken" },
  noWords: { is: "Engin", en: "None" },
  language: { is: "Talað mál", en: "Spoken language" },
  languageOfConsole: { is: "Málið á stjórnborðinu", en: "The language of the console" },
  languageMissing: {
    is: (name: string) => `${name} (ekkert líkan uppsett)`,
    en: (name: string) => `${name} (no model installed)`,
  },
  modelNext: {
    is: "Veldu mál til að velja líkan þess. Líkan og orð eiga við upptökur á því máli.",
    en: "Choose a language to choose its model. The model and the words apply to recordings in that language.",
  },
  unsaved: { is: "Óvistaðar breytingar", en: "Unsaved changes" },
  save: { is: "Vista sjálfgildi", en: "Save defaults" },
  saved: { is: "Sjálfgildin hafa verið vistuð.", en: "The defaults were saved." },

  recognition: {
    is: "Líkan, mælendur og orð sem búast má við",
    en: "Model, speakers and words to expect",
  },
  withModel: { is: (name: string) => `Líkan: ${name}`, en: (name: string) => `Model: ${name}` },
  withSpeakers: {
    is: (count: number) => `mest ${counted("is", count, "mælandi", "mælendur")}`,
    en: (count: number) => `at most ${counted("en", count, "speaker", "speakers")}`,
  },
  withoutSpeakers: {
    is: "mælendur ekki greindir í sundur",
    en: "speakers not distinguished",
  },
  withWords: {
    is: (count: number) => `${counted("is", count, "orð", "orð")} sem búast má við`,
    en: (count: number) => `${counted("en", count, "word", "words")} to expect`,
  },
  languageGone: {
    is: (name: string) =>
      `Ekkert líkan er uppsett fyrir sjálfgefna málið (${name}). Annað mál er valið.`,
    en: (name: string) =>
      `No model is installed for the default language, ${name}. Another language is chosen.`,
  },
  modelGone: {
    is: (name: string) =>
      `Sjálfgefna líkanið, ${name}, er ekki uppsett fyrir þetta mál. Líkan er valið sjálfkrafa.`,
    en: (name: string) =>
      `The default model, ${name}, is not installed for this language. A model is chosen automatically.`,
  },
  speakersGone: {
    is: "Mælendur verða ekki greindir í sundur: ekkert líkan til þess er uppsett.",
    en: "Speakers are not distinguished: no model for that is installed.",
  },
  wordsUnused: {
    is: "Sjálfgefnu orðin eru ekki notuð: líkanið tekur ekki við orðum.",
    en: "The default words to expect are not used: the model takes no words.",
  },
} as const;
