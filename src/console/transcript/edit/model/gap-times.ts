import { segmentOfWord, type Base, type EditedParagraph } from "./base.ts";
import { momentAt, momentWithin, type Moment } from "./moment.ts";
import { endOfWord, startOfWord, type Retimings } from "./retimings.ts";
import { secondsOf } from "../../../text/numbers.ts";

/** The span of some words. */
export interface Span {
  readonly start: Moment;
  readonly end: Moment;
  /** None of the words may start after this, if it is before the end. */
  readonly latestStart?: Moment;
}

/**
 * Returns the span for words that are inserted at an edge between words of the base, which take
 * `seconds` to say. It is in the pause there. If the pause is too short, it begins in the later
 * part of the word before, or ends in the earlier part of the word after.
 */
export function gapFor(
  base: Base,
  {
    paragraph: { from, to, isSoft },
    retimings,
    edge,
    seconds,
  }: {
    readonly paragraph: EditedParagraph;
    readonly retimings: Retimings;
    readonly edge: number;
    readonly seconds: number;
  },
): Span {
  const isInside = from < edge && edge < to;
  const isAtStart = edge === from && from < to;
  const count = base.words.length;
  const left = edge > 0 ? endOfWord(base, retimings, edge - 1) : undefined;
  const right = edge < count ? startOfWord(base, retimings, edge) : undefined;
  if (!left && !right) return { start: momentAt(0), end: momentAt(seconds) };
  if (!left || (right && left.seconds > right.seconds && isAtStart)) {
    const earliest = left ? startOfWord(base, retimings, edge - 1) : momentAt(0);
    return beforeWord(base, { retimings, edge, seconds, earliest });
  }
  let latest = right ?? endOfLastSegment(base, left);
  if (latest.seconds < left.seconds) latest = isInside ? latest : left;
  const pause = latest.seconds - left.seconds;
  if (pause >= seconds) {
    return isAtStart
      ? { start: momentWithin(latest.seconds - seconds, left, latest), end: latest }
      : { start: left, end: momentWithin(left.seconds + seconds, left, latest) };
  }
  if (isAtStart && isSoft) return beforeWord(base, { retimings, edge, seconds, earliest: left });
  const begin = startOfWord(base, retimings, edge - 1);
  const middle = (begin.seconds + left.seconds) / 2;
  const wanted = Math.max(middle, latest.seconds - seconds);
  const start = momentWithin(wanted, begin, latest.seconds < begin.seconds ? begin : latest);
  return { start, end: latest.seconds < start.seconds ? start : latest };
}

/** Returns a span that ends at the start of a word, or in its earlier half. */
function beforeWord(
  base: Base,
  {
    retimings,
    edge,
    seconds,
    earliest,
  }: {
    readonly retimings: Retimings;
    readonly edge: number;
    readonly seconds: number;
    readonly earliest: Moment;
  },
): Span {
  const begin = startOfWord(base, retimings, edge);
  const end = endOfWord(base, retimings, edge);
  const wanted = begin.seconds - seconds;
  const first = earliest.seconds > begin.seconds ? begin : earliest;
  const start = momentWithin(wanted, first, begin);
  if (begin.seconds - start.seconds >= seconds / 2) return { start, end: begin };
  const half = (begin.seconds + end.seconds) / 2;
  const latest = momentWithin(Math.min(half, start.seconds + seconds), begin, end);
  return { start, end: latest, latestStart: begin };
}

/** Returns the end of the last segment that has words. */
function endOfLastSegment(base: Base, left: Moment): Moment {
  const segment = base.segments[segmentOfWord(base, base.words.length - 1)];
  const text = segment?.endTime ?? "0s";
  const seconds = secondsOf(text);
  return seconds < left.seconds ? left : { seconds, text };
}
