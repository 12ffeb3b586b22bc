import { counted } from "./counted.ts";

/** Texts of the subtitles of a transcript. */
export const subtitlesText = {
  subtitles: { is: "Skjátextar", en: "Subtitles" },
  cutting: { is: "Skipti textanum…", en: "Dividing the text…" },
  none: { is: "Enginn texti er með tíma.", en: "No text has times." },
  count: {
    is: (count: number) => counted("is", count, "skjátexti", "skjátextar"),
    en: (count: number) => counted("en", count, "subtitle", "subtitles"),
  },
  allGood: { is: "Allir halda reglurnar.", en: "All of them keep the rules." },
  broken: {
    is: (count: number) => counted("is", count, "brýtur reglu.", "brjóta reglu."),
    en: (count: number) => counted("en", count, "breaks a rule.", "break a rule."),
  },
  rules: {
    is: (lines: number, chars: number, speed: number, min: number, max: number) =>
      `Mest ${lines} línur með ${chars} stöfum, ${speed} stafir á sekúndu, ${min} til ${max} s.`,
    en: (lines: number, chars: number, speed: number, min: number, max: number) =>
      `At most ${lines} lines of ${chars} characters, ${speed} characters a second, ${min} to ${max} s.`,
  },
  previousBroken: { is: "Fyrra regluvik", en: "Previous broken rule" },
  nextBroken: { is: "Næsta regluvik", en: "Next broken rule" },
  lines: {
    is: (count: number, most: number) => `${count} línur, mest ${most}`,
    en: (count: number, most: number) => `${count} lines, at most ${most}`,
  },
  lineChars: {
    is: (chars: number, most: number) =>
      `${counted("is", chars, "stafur", "stafir")} í línu, mest ${most}`,
    en: (chars: number, most: number) => `${chars} characters in a line, at most ${most}`,
  },
  tooShort: {
    is: (seconds: string, least: number) => `${seconds} s, minnst ${least} s`,
    en: (seconds: string, least: number) => `${seconds} s, at least ${least} s`,
  },
  tooLong: {
    is: (seconds: string, most: number) => `${seconds} s, mest ${most} s`,
    en: (seconds: string, most: number) => `${seconds} s, at most ${most} s`,
  },
  tooFast: {
    is: (speed: string, most: number) => `${speed} stafir á sekúndu, mest ${most}`,
    en: (speed: string, most: number) => `${speed} characters a second, at most ${most}`,
  },
} as const;
