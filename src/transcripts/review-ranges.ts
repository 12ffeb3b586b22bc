/** A range of time in nanoseconds, exact up to 2500 hours. Its start is before its end. */
export interface Range {
  readonly start: number;
  readonly end: number;
}

/** Joins ranges that overlap or touch. Returns them in order. */
export function joinRanges(ranges: readonly Range[]): readonly Range[] {
  const joined: { start: number; end: number }[] = [];
  for (const { start, end } of ranges.toSorted((a, b) => a.start - b.start)) {
    const last = joined.at(-1);
    if (last && start <= last.end) last.end = Math.max(last.end, end);
    else joined.push({ start, end });
  }
  return joined;
}

/** Removes the times of `removed` from ranges that do not touch each other. */
export function subtractRanges(
  ranges: readonly Range[],
  removed: readonly Range[],
): readonly Range[] {
  const cuts = joinRanges(removed);
  return ranges.flatMap(({ start, end }) => {
    const left: Range[] = [];
    let from = start;
    for (const cut of cuts) {
      if (cut.start >= end) break;
      if (cut.end <= from) continue;
      if (cut.start > from) left.push({ start: from, end: cut.start });
      from = cut.end;
    }
    if (from < end) left.push({ start: from, end });
    return left;
  });
}
