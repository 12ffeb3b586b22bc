import { firstIndex } from "../../spoken-text.ts";
import { alignRun } from "./align-run.ts";
import type { Base, EditedParagraph } from "./base.ts";
import type { Block } from "./block.ts";
import { earlier, later, type Moment, momentAt } from "./moment.ts";
import { gapFor, type Span } from "./gap-times.ts";
import { pinnedSpans, type PinnedSpan, pinsWithin, sharedSpan, withPins } from "./pins.ts";
import { endOfWord, noRetimings, startOfWord, type Retimings } from "./retimings.ts";
import { spokenSeconds } from "./tokens.ts";

/** A word of an edited paragraph. */
export interface TimedWord {
  /** The word with the whitespace around it. All words joined are the paragraph's text. */
  readonly text: string;
  /** The offset of the word in the paragraph's text, in UTF-16 code units. */
  readonly offset: number;
  /** Durations in proto3 JSON; those of unchanged words are the base's to the digit. */
  readonly startTime: string;
  readonly endTime: string;
  /** The same in seconds. */
  readonly start: number;
  readonly end: number;
  /**
   * The index of the word of the base that has these times, or would without a pin; undefined if
   * they were computed.
   */
  readonly word: number | undefined;
  /** Whether the word is that word of the base, except for the whitespace around it. */
  readonly isUnchanged: boolean;
  /** Whether the times are estimated ones of the base, or were computed from such. */
  readonly isEstimated: boolean;
  /** Whether the times are those of a pin. */
  readonly isPinned: boolean;
}

/**
 * Returns the words of a paragraph with their times, which depend only on the base, the paragraph
 * and the times that were set. Unchanged words keep their times. Words that replace others share
 * their span, and inserted words get the pause in which they stand. Words with pins have the times
 * of these, within those of the words of the base around them.
 */
export function timesOf(
  base: Base,
  paragraph: EditedParagraph,
  retimings: Retimings = noRetimings,
): TimedWord[] {
  const blocks = alignRun(base, paragraph.from, paragraph.to, paragraph.text);
  const texts = blocks.flatMap((block) =>
    block.kind === "unchanged" ? [block.text] : block.texts,
  );
  const offsets = offsetsOf(texts);
  const pinned = pinnedSpans(
    texts.map((text, at) => ({ text, offset: offsets[at] ?? 0 })),
    paragraph.pins,
  );
  const words: Timed[] = [];
  for (const block of blocks) {
    const count = block.kind === "unchanged" ? 1 : block.texts.length;
    const own = pinned.slice(words.length, words.length + count);
    for (const word of timedBlock(base, { block, paragraph, retimings, pinned: own })) {
      words.push(word);
    }
  }
  let latest: Moment | undefined;
  return withPinsInOrder(words).map(({ start: wanted, end: wantedEnd, ...word }, at) => {
    // Computed times follow the words before, which may overlap.
    const isFree = word.word === undefined || word.isPinned;
    const start = latest && isFree ? later(wanted, latest) : wanted;
    const end = later(wantedEnd, start);
    latest = start;
    return {
      ...word,
      offset: offsets[at] ?? 0,
      startTime: start.text,
      endTime: end.text,
      start: start.seconds,
      end: end.seconds,
    };
  });
}

function offsetsOf(texts: readonly string[]): number[] {
  let end = 0;
  return texts.map((text) => {
    const offset = end;
    end += text.length;
    return offset;
  });
}

interface Timed extends Pick<TimedWord, "text" | "word" | "isUnchanged" | "isEstimated"> {
  readonly start: Moment;
  readonly end: Moment;
  readonly isPinned: boolean;
}

/**
 * Returns words of which none with a pin, or after one, starts after a later word of the base: what
 * was typed may stand elsewhere now. Words of the base keep their own times, but in a joined
 * paragraph they may start before an earlier one, and are then saved with its start.
 */
function withPinsInOrder(words: readonly Timed[]): readonly Timed[] {
  if (!words.some(({ isPinned }) => isPinned)) return words;
  let latest: Moment | undefined;
  const saved = words.map(({ word, start, isPinned }) => {
    if (word === undefined || isPinned) return undefined;
    latest = latest ? later(latest, start) : start;
    return latest;
  });
  let bound: Moment | undefined;
  return words
    .map((word, at) => ({ word, saved: saved[at] }))
    .toReversed()
    .map((each) => {
      bound = each.saved ?? bound;
      const { word, saved: own } = each;
      return own || !bound ? word : { ...word, start: earlier(word.start, bound) };
    })
    .toReversed();
}

interface BlockPlace {
  readonly paragraph: EditedParagraph;
  readonly retimings: Retimings;
  /** The times of pins, for each word of the block. */
  readonly pinned: readonly (PinnedSpan | undefined)[];
}

function timedBlock(
  base: Base,
  { block, paragraph, retimings, pinned }: BlockPlace & { readonly block: Block },
): Timed[] {
  const [from, to] =
    block.kind === "unchanged" ? [block.word, block.word + 1] : [block.from, block.to];
  const isUnchanged = block.kind === "unchanged";
  const texts = isUnchanged ? [block.text] : block.texts;
  if (texts.length === 0) return [];
  if (to - from !== texts.length) {
    return computedWords(base, { texts, from, to, paragraph, retimings, pinned });
  }
  return texts.map((text, at) => {
    const [word, pin] = [from + at, pinned[at]];
    const isPinned = pin !== undefined;
    const isEstimated = !isPinned && isEstimatedWord(base, retimings, word);
    const span = pin ?? spanOfWord(base, retimings, word);
    return { text, ...span, word, isUnchanged, isEstimated, isPinned };
  });
}

/** Returns words whose times are computed, except those with pins, which divide the others. */
function computedWords(
  base: Base,
  {
    texts,
    from,
    to,
    paragraph,
    retimings,
    pinned,
  }: BlockPlace & {
    readonly texts: readonly string[];
    readonly from: number;
    readonly to: number;
  },
): Timed[] {
  const weights = texts.map(spokenSeconds);
  const seconds = weights.reduce((total, each) => total + each, 0);
  const span: Span =
    from === to
      ? gapFor(base, { paragraph, retimings, edge: from, seconds })
      : spanOfWords(base, { paragraph, retimings, from, to });
  // An inserted word has the pause between its neighbors.
  const [first, last] = from === to ? [from - 1, to] : [from, to - 1];
  const isEstimated = hasEstimated(base, retimings, first, last);
  const words: Timed[] = [];
  let { start } = span;
  for (let at = 0; at < texts.length;) {
    let next = at;
    while (next < texts.length && !pinned[next]) next += 1;
    const pin = pinned[next];
    const own = weights.slice(at, next);
    const isBefore = start.seconds < span.end.seconds;
    const limit = isBefore ? span.end : afterPin(base, { start, to, weights: own, retimings });
    const end = later(start, pin ? earlier(pin.start, limit) : limit);
    const shares = sharedSpan({ start, end }, own);
    const latestStart = span.latestStart ?? end;
    for (const share of shares) {
      words.push({
        text: texts[words.length] ?? "",
        start: earlier(share.start, latestStart),
        end: later(share.start, share.end),
        word: undefined,
        isUnchanged: false,
        isEstimated,
        isPinned: false,
      });
    }
    if (pin) {
      const text = texts[next] ?? "";
      const isTyped = { word: undefined, isUnchanged: false, isEstimated: false };
      words.push({ text, ...pin, ...isTyped, isPinned: true });
      start = later(start, pin.end);
    }
    at = next + 1;
  }
  return words;
}

/** Returns the end of words after a pin that stands after the span of its block. */
function afterPin(
  base: Base,
  {
    start,
    to,
    weights,
    retimings,
  }: {
    readonly start: Moment;
    readonly to: number;
    readonly weights: readonly number[];
    readonly retimings: Retimings;
  },
): Moment {
  const wanted = momentAt(start.seconds + weights.reduce((total, each) => total + each, 0));
  const next = to < base.words.length ? startOfWord(base, retimings, to) : wanted;
  return later(start, earlier(wanted, next));
}

function isEstimatedWord({ words }: Base, retimings: Retimings, word: number): boolean {
  return words[word]?.estimatedTimes === true && !retimings.has(word);
}

function hasEstimated(base: Base, retimings: Retimings, first: number, last: number): boolean {
  for (let word = first; word <= last; word += 1) {
    if (isEstimatedWord(base, retimings, word)) return true;
  }
  return false;
}

function spanOfWord(base: Base, retimings: Retimings, word: number) {
  const start = startOfWord(base, retimings, word);
  return { start, end: later(start, endOfWord(base, retimings, word)) };
}

/**
 * Returns the span of replaced words: from the start of the first to the latest end, but not after
 * the start of the next word, because words are in the order of their starts.
 */
function spanOfWords(
  base: Base,
  {
    paragraph,
    retimings,
    from,
    to,
  }: {
    readonly paragraph: EditedParagraph;
    readonly retimings: Retimings;
    readonly from: number;
    readonly to: number;
  },
): { start: Moment; end: Moment } {
  const start = startOfWord(base, retimings, from);
  let end = start;
  for (let word = from; word < to; word += 1) {
    end = later(end, endOfWord(base, retimings, word));
  }
  if (to < paragraph.to) {
    const next = startOfWord(base, retimings, to);
    if (next.seconds < end.seconds) end = later(start, next);
  }
  return { start, end };
}

/**
 * Returns a paragraph without the pins that change nothing: their words are words of the base that
 * have the same times without any pin. A pin may be shorter than it was set, because of the next.
 */
export function withoutOwnPins(base: Base, paragraph: EditedParagraph): EditedParagraph {
  const { pins } = paragraph;
  if (!pins) return paragraph;
  const own = timesOf(base, withPins(paragraph, []));
  const pinned = timesOf(base, paragraph);
  const other = pins.filter((pin) => {
    return !own.every(({ offset, text, isUnchanged, startTime, endTime }, at) => {
      if (pinsWithin([pin], offset, offset + text.length).length === 0) return true;
      const same = pinned[at]?.startTime === startTime && pinned[at].endTime === endTime;
      return isUnchanged && same;
    });
  });
  return withPins(paragraph, other);
}

/** Does the same for paragraphs, and yields often. */
export function* withoutOwnPinsSteps(
  base: Base,
  paragraphs: readonly EditedParagraph[],
): Generator<void, EditedParagraph[], void> {
  const others: EditedParagraph[] = [];
  for (const paragraph of paragraphs) {
    others.push(withoutOwnPins(base, paragraph));
    if (paragraph.pins) yield;
  }
  yield;
  return others;
}

/** Returns the index of the word at an offset in the paragraph's text; -1 if there are no words. */
export function wordAtOffset(words: readonly TimedWord[], offset: number): number {
  const after = firstIndex(words.length, (at) => (words[at]?.offset ?? 0) > offset);
  return after === 0 && words.length > 0 ? 0 : after - 1;
}

/**
 * Returns the index of the word that is said at a time, or of the last word before it; -1 before
 * the first word.
 */
export function wordAtTime(words: readonly TimedWord[], seconds: number): number {
  return firstIndex(words.length, (at) => (words[at]?.start ?? 0) > seconds) - 1;
}

/** Returns the offset in the paragraph's text of the word that is said at a time. */
export function offsetAtTime(words: readonly TimedWord[], seconds: number): number {
  return words[Math.max(0, wordAtTime(words, seconds))]?.offset ?? 0;
}
