import type { SpokenSegment } from "./spoken.ts";

/**
 * Writes a transcript as a label track for Audacity: a line for each word, with its start and end
 * in seconds and its text, separated by tabs, in order of start. A text that has only whitespace
 * has no label.
 */
export function writeLabels(segments: readonly SpokenSegment[]): string {
  return segments
    .flatMap(({ words }) => words)
    .toSorted((one, other) => one.startMs - other.startMs)
    .map(({ text, startMs, endMs }) => ({ text: safe(text), startMs, endMs }))
    .filter(({ text }) => text !== "")
    .map(({ text, startMs, endMs }) => `${seconds(startMs)}\t${seconds(endMs)}\t${text}\n`)
    .join("");
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(6);
}

/**
 * Replaces tabs, line ends and other control characters, which would begin another field or label.
 */
function safe(text: string): string {
  return text.replaceAll(/[\s\p{Cc}]+/gu, " ").trim();
}
