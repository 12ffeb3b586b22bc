import type { Base, EditedParagraph } from "./base.ts";
import { later, type Moment } from "./moment.ts";
import { endOfWord, noRetimings, startOfWord, type Retimings } from "./retimings.ts";
import { timesOf } from "./times.ts";

/** A stretch of time in seconds. */
export interface TimeRange {
  readonly start: number;
  readonly end: number;
}

/** Times up to this far apart are the same, because requests have times in milliseconds. */
const slackSeconds = 0.001;

/**
 * Returns when a paragraph is said: from the start of its run to the latest end of a word. It does
 * not depend on the text, so that typing changes nothing. A paragraph without a run is said when
 * its words are; undefined if it has none.
 */
export function spanOfParagraph(
  base: Base,
  paragraph: EditedParagraph,
  retimings: Retimings = noRetimings,
): { readonly start: Moment; readonly end: Moment } | undefined {
  const { from, to } = paragraph;
  if (from < to) {
    const start = startOfWord(base, retimings, from);
    let end = start;
    for (let word = from; word < to; word += 1) end = later(end, endOfWord(base, retimings, word));
    return { start, end };
  }
  const words = timesOf(base, paragraph, retimings);
  const [first, last] = [words[0], words.at(-1)];
  if (!first || !last) return undefined;
  return {
    start: { seconds: first.start, text: first.startTime },
    end: { seconds: last.end, text: last.endTime },
  };
}

/**
 * Returns for each paragraph whether ranges cover all of it. Empty paragraphs without a run are
 * covered.
 */
export function coveredParagraphs(
  base: Base,
  paragraphs: readonly EditedParagraph[],
  ranges: readonly TimeRange[],
  retimings: Retimings = noRetimings,
): boolean[] {
  const joined = joinedRanges(ranges);
  return paragraphs.map((paragraph) => {
    const span = spanOfParagraph(base, paragraph, retimings);
    return !span || isWithin(joined, span.start.seconds, span.end.seconds);
  });
}

/** Whether one of the ranges, which are in order and do not touch, has all of a stretch. */
export function isWithin(joined: readonly TimeRange[], start: number, end: number): boolean {
  const range = rangeAt(joined, start);
  return range !== undefined && range.end + slackSeconds >= end;
}

/** Returns the number of seconds of a stretch that ranges cover. */
export function coveredSeconds(ranges: readonly TimeRange[], within: TimeRange): number {
  return joinedRanges(ranges).reduce((total, { start, end }) => {
    return total + Math.max(0, Math.min(end, within.end) - Math.max(start, within.start));
  }, 0);
}

/** Joins ranges that touch, in order. */
export function joinedRanges(ranges: readonly TimeRange[]): TimeRange[] {
  const joined: TimeRange[] = [];
  for (const range of ranges.toSorted((one, other) => one.start - other.start)) {
    const last = joined.at(-1);
    if (last && range.start <= last.end + slackSeconds) {
      joined[joined.length - 1] = { start: last.start, end: Math.max(last.end, range.end) };
    } else joined.push(range);
  }
  return joined;
}

/** Returns the last range that begins at a time or before it, among ranges in order. */
function rangeAt(ranges: readonly TimeRange[], seconds: number): TimeRange | undefined {
  let [low, high] = [0, ranges.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((ranges[middle]?.start ?? 0) > seconds + slackSeconds) high = middle;
    else low = middle + 1;
  }
  return ranges[low - 1];
}
