import { listed } from "./listed.ts";

/** Texts of the review of a transcript: what has been checked and listened to, and by whom. */
export const reviewText = {
  /** Who has checked a paragraph, for screen readers and as a hint. */
  checked: {
    is: (names: readonly string[]) =>
      names.length === 0 ? "Yfirfarið" : `Yfirfarið: ${listed("is", names)}`,
    en: (names: readonly string[]) =>
      names.length === 0 ? "Checked" : `Checked by ${listed("en", names)}`,
  },
  share: {
    is: (percent: number) => `${percent} % yfirfarið`,
    en: (percent: number) => `${percent}% checked`,
  },
  check: { is: "Merkja yfirfarið", en: "Mark as checked" },
  uncheck: { is: "Taka merkið af", en: "Remove the mark" },
  unchecked: { is: "Merkið var tekið af.", en: "The mark was removed." },
  allChecked: {
    is: "Allar málsgreinar eru yfirfarnar.",
    en: "All paragraphs are checked.",
  },
  /** A paragraph was put back, by how the first version of the transcript was made. */
  restored: {
    first: {
      is: "Málsgreinin er eins og í fyrstu útgáfunni.",
      en: "The paragraph is as in the first version.",
    },
    recognized: {
      is: "Málsgreinin er eins og hún var talgreind.",
      en: "The paragraph is as it was recognized.",
    },
    imported: {
      is: "Málsgreinin er eins og hún var flutt inn.",
      en: "The paragraph is as it was imported.",
    },
  },
  /** The first version has nothing there. */
  nothingThere: {
    first: {
      is: "Málsgreinin var ekki í fyrstu útgáfunni, svo ekki er hægt að endurheimta hana.",
      en: "The paragraph was not in the first version, so that it cannot be put back.",
    },
    recognized: {
      is: "Málsgreinin var ekki talgreind, svo ekki er hægt að endurheimta hana.",
      en: "The paragraph was not recognized, so that it cannot be put back.",
    },
    imported: {
      is: "Málsgreinin var ekki flutt inn, svo ekki er hægt að endurheimta hana.",
      en: "The paragraph was not imported, so that it cannot be put back.",
    },
  },
  notRestored: {
    is: "Málsgreinin breyttist á meðan, svo hún var ekki endurheimt.",
    en: "The paragraph changed in the meantime, so it was not put back.",
  },
  originalUnavailable: {
    is: "Ekki tókst að sækja fyrstu útgáfuna. Reyndu aftur.",
    en: "The first version could not be fetched. Try again.",
  },
  /** What the marks along the waveform say, as durations. */
  along: {
    is: (checked: string, listened: string) => `Yfirfarið: ${checked} Hlustað: ${listened}`,
    en: (checked: string, listened: string) => `Checked: ${checked}. Listened to: ${listened}.`,
  },
} as const;
