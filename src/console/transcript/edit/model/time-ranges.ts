/** A stretch of time in seconds. */
export interface TimeRange {
  readonly start: number;
  readonly end: number;
}

/** Times up to this far apart are the same, because requests have times in milliseconds. */
const slackSeconds = 0.001;

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
