/** The cues [first, end) that are rendered. */
export interface CueRange {
  readonly first: number;
  readonly end: number;
}

/** The number of cues that are rendered before and after the current one at first. */
const around = { before: 30, after: 50 };
/** The number of cues that are added at an end. */
const more = 40;
/** The number of cues between the current one and an end that is not the end of the text. */
const margin = 4;

/** Returns the cues to render so that one is among them: those until now if they suffice. */
export function rangeWith(range: CueRange, at: number, count: number): CueRange {
  const isBefore = at < range.first + margin && range.first > 0;
  const isAfter = at >= range.end - margin && range.end < count;
  return isBefore || isAfter ? rangeAround(at, count) : range;
}

export function rangeAround(at: number, count: number): CueRange {
  return { first: Math.max(0, at - around.before), end: Math.min(count, at + around.after) };
}

/** Returns more cues at one end: -1 for the start. The same range if there are none. */
export function extended(range: CueRange, by: 1 | -1, count: number): CueRange {
  const first = by < 0 ? Math.max(0, range.first - more) : range.first;
  const end = by > 0 ? Math.min(count, range.end + more) : range.end;
  return first === range.first && end === range.end ? range : { first, end };
}
