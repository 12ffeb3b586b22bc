import { counted } from "./counted.ts";
import { numberText } from "./numbers.ts";
import type { Problems } from "./problems.ts";

/** Texts about saving an edited text, and about what keeps it until then. */
export const savingText = {
  offline: {
    is: "Ekkert samband við þjónustuna. Textinn er kyrr hér og verður vistaður þegar samband næst.",
    en: "The service cannot be reached. The text stays here, and is saved once it responds.",
  },
  waits: {
    is: (seconds: number) =>
      `Textinn er kyrr hér. Reynt er að vista aftur eftir ${counted("is", seconds, "sekúndu", "sekúndur")}.`,
    en: (seconds: number) =>
      `The text stays here. Saving is tried again in ${counted("en", seconds, "second", "seconds")}.`,
  },
  tryNow: { is: "Reyna núna", en: "Try now" },
  stop: { is: "Hætta að reyna", en: "Stop trying" },
  unsavable: {
    is: "Ekki er hægt að vista textann svona.",
    en: "The text cannot be saved like this.",
  },
  segments: {
    is: (count: number, limit: number) =>
      `Hann hefur ${counted("is", count, "málsgrein", "málsgreinar")}; mest mega þær vera ${numberText("is", limit)}.`,
    en: (count: number, limit: number) =>
      `It has ${counted("en", count, "paragraph", "paragraphs")}; at most ${numberText("en", limit)} can be saved.`,
  },
  words: {
    is: (count: number, limit: number) =>
      `Hann hefur ${counted("is", count, "orð", "orð")}; mest mega þau vera ${numberText("is", limit)}.`,
    en: (count: number, limit: number) =>
      `It has ${counted("en", count, "word", "words")}; at most ${numberText("en", limit)} can be saved.`,
  },
  wordChars: {
    is: (count: number, limit: number) =>
      `Eitt orð hefur ${counted("is", count, "staf", "stafi")}; mest mega þeir vera ${numberText("is", limit)}.`,
    en: (count: number, limit: number) =>
      `One word has ${counted("en", count, "character", "characters")}; at most ${numberText("en", limit)} can be saved.`,
  },
  invalidCharacter: {
    is: "Í honum er stafur sem ekki er hægt að vista.",
    en: "It has a character that cannot be saved.",
  },
  toPlace: { is: "Fara á staðinn", en: "Go to the place" },
  stays: { is: "Textinn er kyrr á síðunni.", en: "The text stays on this page." },
} as const;

/** What keeps a text from being saved, where this is explained in other words than elsewhere. */
export const saveProblems: Problems = {
  OFFLINE: {
    sentence: { is: "Ekki næst í þjónustuna.", en: "The service cannot be reached." },
    next: { is: "Vistaðu aftur þegar samband er komið á.", en: "Save again once it responds." },
  },
  SIGNED_OUT: {
    sentence: {
      is: "Innskráningin rann út áður en textinn vistaðist.",
      en: "Your session had ended before the text was saved.",
    },
    next: { is: "Vistaðu aftur.", en: "Save again." },
  },
  TRANSCRIPT_NOT_FOUND: {
    sentence: {
      is: "Uppskriftinni hefur verið eytt, svo ekki er hægt að vista útgáfu af henni.",
      en: "The transcript was deleted, so no version of it can be saved.",
    },
    next: { is: "Vistaðu textann sem skrá.", en: "Save the text as a file." },
  },
  PAYLOAD_TOO_LARGE: {
    sentence: {
      is: "Textinn er stærri en þjónustan tekur við.",
      en: "The text is larger than the service accepts.",
    },
    next: {
      is: "Styttu hann eða skiptu honum á fleiri uppskriftir.",
      en: "Shorten it, or divide it between several transcripts.",
    },
  },
  STORAGE_LIMIT: {
    sentence: {
      is: "Geymsla reikningsins er full, svo drögin komast ekki í þjónustuna.",
      en: "The account's storage is full, so the service cannot keep the drafts.",
    },
    next: {
      is: "Vistaðu textana sem útgáfur, eða eyddu gömlum uppskriftum og reyndu aftur.",
      en: "Save the texts as versions, or delete old transcripts and try again.",
    },
  },
  403: {
    sentence: {
      is: "Þú mátt ekki lengur breyta þessari uppskrift.",
      en: "You may not change this transcript any more.",
    },
    next: {
      is: "Eigandi reikningsins getur gefið leyfi til þess. Þangað til má vista textann sem skrá.",
      en: "An owner of the account can permit it. Until then, the text can be saved as a file.",
    },
  },
};
