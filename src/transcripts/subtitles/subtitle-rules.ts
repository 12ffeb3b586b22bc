/**
 * The rules of good subtitles. When they conflict they are relaxed in this order, the last one
 * first: cues never overlap, no text is lost, lines and their length, the longest time, the
 * shortest time, the reading speed.
 */
export const subtitleRules = {
  lines: 2,
  /** The maximum of visible characters (grapheme clusters) of a line. */
  lineChars: 42,
  msMax: 7_000,
  msMin: 1_000,
  charsPerSecond: 17,
} as const;

/** How long a text of this many characters is to be shown. */
export function readingMs(chars: number): number {
  return Math.max(subtitleRules.msMin, Math.ceil((chars * 1000) / subtitleRules.charsPerSecond));
}
