import type { BrokenRule } from "../../../cues/broken-rules.ts";
import { subtitleRules } from "../../../cues/subtitle-rules.ts";
import type { Language } from "../../text/language.tsx";
import { numberText } from "../../text/numbers.ts";
import { subtitlesText } from "../../text/subtitles.ts";

/**
 * Returns what a cue breaks in words, with the limit. Numbers are rounded away from the limit, so
 * that no number that is shown keeps the rule.
 */
export function ruleText(language: Language, broken: BrokenRule): string {
  const tenths = (value: number) => numberText(language, value / 10, value % 10 === 0 ? 0 : 1);
  const { lines, lineChars, msMin, msMax, charsPerSecond } = subtitleRules;
  switch (broken.rule) {
    case "lines":
      return subtitlesText.lines[language](broken.count, lines);
    case "lineChars":
      return subtitlesText.lineChars[language](broken.chars, lineChars);
    case "msMin":
      return subtitlesText.tooShort[language](tenths(Math.floor(broken.ms / 100)), msMin / 1000);
    case "msMax":
      return subtitlesText.tooLong[language](tenths(Math.ceil(broken.ms / 100)), msMax / 1000);
    case "charsPerSecond": {
      const { charsPerSecond: has } = broken;
      const shown = Number.isFinite(has) ? tenths(Math.ceil(has * 10)) : "∞";
      return subtitlesText.tooFast[language](shown, charsPerSecond);
    }
    default:
      return broken satisfies never;
  }
}
