import { secondsOf } from "../../../text/numbers.ts";
import type { EditedParagraph } from "./base.ts";
import { momentWithin, type Moment } from "./moment.ts";
import type { Pin } from "./pin.ts";
import type { WordTimes } from "./retimings.ts";
import { spokenSeconds } from "./tokens.ts";

/** Returns a paragraph with other pins. They are in order and do not overlap. */
export function withPins(
  { pins: _pins, ...paragraph }: EditedParagraph,
  pins: readonly Pin[],
): EditedParagraph {
  const normal = normalPins(pins);
  return normal.length === 0 ? paragraph : { ...paragraph, pins: normal };
}

/** Returns pins without empty ones. Those that touch and have the same times become one. */
function normalPins(pins: readonly Pin[]): Pin[] {
  const normal: Pin[] = [];
  for (const pin of pins) {
    if (pin.from >= pin.to) continue;
    const last = normal.at(-1);
    const isOne = last?.to === pin.from && areSameTimes(last, pin);
    if (isOne) normal[normal.length - 1] = { ...last, to: pin.to };
    else normal.push(pin);
  }
  return normal;
}

function areSameTimes(one: WordTimes, other: WordTimes): boolean {
  return one.startTime === other.startTime && one.endTime === other.endTime;
}

/** Whether two paragraphs have the same pins. */
export function areSamePins(one: readonly Pin[] = [], other: readonly Pin[] = []): boolean {
  if (one === other) return true;
  return (
    one.length === other.length &&
    one.every((pin, at) => {
      const same = other[at];
      return same?.from === pin.from && same.to === pin.to && areSameTimes(same, pin);
    })
  );
}

/** Returns pins that stand further on in a text. */
export function movedPins(pins: readonly Pin[] = [], by = 0): Pin[] {
  return pins.map((pin) => ({ ...pin, from: pin.from + by, to: pin.to + by }));
}

/** Returns the pins in a range of a text, with offsets from its start. */
export function pinsWithin(pins: readonly Pin[] = [], from = 0, to = Infinity): Pin[] {
  return pins.flatMap((pin) => {
    const [begin, end] = [Math.max(pin.from, from), Math.min(pin.to, to)];
    return begin < end ? [{ ...pin, from: begin - from, to: end - from }] : [];
  });
}

/** Returns the pins of a text of which a range was replaced by `length` characters. */
export function pinsAfter(
  pins: readonly Pin[] = [],
  { from, to }: { readonly from: number; readonly to: number },
  length: number,
): Pin[] {
  return pins.flatMap((pin) => {
    const isWithin = pin.from < from && pin.to > to;
    if (isWithin) return [{ ...pin, to: pin.to + length - (to - from) }];
    const before = pinsWithin([pin], 0, from);
    return [...before, ...movedPins(pinsWithin([pin], to), from + length)];
  });
}

/** The times of a word that has a pin. */
export interface PinnedSpan {
  readonly start: Moment;
  readonly end: Moment;
}

/**
 * Returns for each word of a text its pinned times, or undefined. Words that share a pin share its
 * span, as after a space was typed within a word.
 */
export function pinnedSpans(
  words: readonly { readonly text: string; readonly offset: number }[],
  pins: readonly Pin[] = [],
): (PinnedSpan | undefined)[] {
  const spans = words.map((): PinnedSpan | undefined => undefined);
  if (pins.length === 0) return spans;
  const own = words.map(({ text, offset }) => {
    const begin = offset + text.length - text.trimStart().length;
    const found = pinsWithin(pins, begin, offset + text.trimEnd().length);
    const [first, last] = [found[0], found.at(-1)];
    return first && last && { startTime: first.startTime, endTime: last.endTime };
  });
  for (let from = 0; from < own.length;) {
    const times = own[from];
    let to = from + 1;
    if (times) {
      for (let next = own[to]; next && areSameTimes(next, times); next = own[to]) to += 1;
      const shares = sharedSpan(
        { start: momentOf(times.startTime), end: momentOf(times.endTime) },
        words.slice(from, to).map(({ text }) => spokenSeconds(text)),
      );
      for (const [at, span] of shares.entries()) spans[from + at] = span;
    }
    from = to;
  }
  return spans;
}

function momentOf(text: string): Moment {
  return { seconds: secondsOf(text), text };
}

/** Divides a span by weight. */
export function sharedSpan({ start, end }: PinnedSpan, weights: readonly number[]): PinnedSpan[] {
  const total = weights.reduce((sum, each) => sum + each, 0);
  const length = end.seconds - start.seconds;
  let before = 0;
  const edges = weights.map((weight) => {
    const edge = momentWithin(start.seconds + (length * before) / total, start, end);
    before += weight;
    return edge;
  });
  return weights.map((_, at) => ({ start: edges[at] ?? start, end: edges[at + 1] ?? end }));
}
