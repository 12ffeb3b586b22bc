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
  restored: {
    is: "Málsgreinin er eins og hún var talgreind.",
    en: "The paragraph is as it was recognized.",
  },
  notRecognized: {
    is: "Málsgreinin var ekki talgreind, svo ekki er hægt að endurheimta hana.",
    en: "The paragraph was not recognized, so that it cannot be put back.",
  },
  /** What the marks along the waveform say, as durations. */
  along: {
    is: (checked: string, listened: string) => `Yfirfarið: ${checked} Hlustað: ${listened}`,
    en: (checked: string, listened: string) => `Checked: ${checked}. Listened to: ${listened}.`,
  },
} as const;
