/**
 * The rules of good subtitles. Where they cannot all hold, they go in this order, the last first:
 * cues never overlap, no text is lost, lines and their length, the longest time, the shortest time,
 * the speed of reading.
 */
export const subtitleRules = {
  lines: 2,
  /** Characters as readers see them: grapheme clusters. */
  lineChars: 42,
  msMax: 7_000,
  msMin: 1_000,
  charsPerSecond: 17,
} as const;

/** How long a text of so many characters is to stand. */
export function readingMs(chars: number): number {
  return Math.max(subtitleRules.msMin, Math.ceil((chars * 1000) / subtitleRules.charsPerSecond));
}
