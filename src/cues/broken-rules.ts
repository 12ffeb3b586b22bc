import type { Cue } from "./cue.ts";
import { subtitleRules } from "./subtitle-rules.ts";
import { visibleChars } from "./visible-chars.ts";

/** A rule for good subtitles that a cue breaks, with what the cue has. */
export type BrokenRule =
  | { readonly rule: "lines"; readonly count: number }
  | { readonly rule: "lineChars"; readonly chars: number }
  | { readonly rule: "msMin" | "msMax"; readonly ms: number }
  | { readonly rule: "charsPerSecond"; readonly charsPerSecond: number };

/**
 * Returns the rules (subtitle-rules.ts) that a cue breaks, the most important first. Several lines
 * that are too long are one broken rule, with the length of the longest.
 */
export function brokenRules({ startMs, endMs, lines, chars }: Cue): BrokenRule[] {
  const { lineChars, msMin, msMax, charsPerSecond } = subtitleRules;
  const ms = endMs - startMs;
  const longest = Math.max(0, ...lines.map(visibleChars));
  const broken: BrokenRule[] = [];
  if (lines.length > subtitleRules.lines) broken.push({ rule: "lines", count: lines.length });
  if (longest > lineChars) broken.push({ rule: "lineChars", chars: longest });
  if (ms > msMax) broken.push({ rule: "msMax", ms });
  if (ms < msMin) broken.push({ rule: "msMin", ms });
  if (ms < Math.ceil((chars * 1000) / charsPerSecond)) {
    broken.push({ rule: "charsPerSecond", charsPerSecond: (chars * 1000) / ms });
  }
  return broken;
}
