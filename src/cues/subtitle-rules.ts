/**
 * The rules for good subtitles. If they conflict, they are relaxed in this order, the last rule
 * first: cues never overlap, no text is lost, the lines and their length, the maximum time, the
 * minimum time, the reading speed.
 */
export const subtitleRules = {
  lines: 2,
  /** The maximum number of visible characters (grapheme clusters) in a line. */
  lineChars: 42,
  msMax: 7_000,
  msMin: 1_000,
  charsPerSecond: 17,
} as const;

/** The shape of subtitles, which a caller can choose. */
export interface SubtitleLines {
  /** The maximum number of visible characters in a line. */
  readonly lineChars: number;
  /** The maximum number of lines of a subtitle: 1 or 2. */
  readonly lines: number;
}

/** Returns how long a text with this many characters should be shown. */
export function readingMs(chars: number): number {
  return Math.max(subtitleRules.msMin, Math.ceil((chars * 1000) / subtitleRules.charsPerSecond));
}
