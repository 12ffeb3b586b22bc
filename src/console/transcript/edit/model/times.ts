import { firstIndex } from "../../spoken-text.ts";
import { alignRun } from "./align-run.ts";
import type { Base, EditedParagraph } from "./base.ts";
import type { Block } from "./block.ts";
import { earlier, later, momentWithin, type Moment } from "./moment.ts";
import { gapFor, type Span } from "./gap-times.ts";
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
   * The index of the word of the base that has these times; undefined if they were computed. Only
   * times of words of the base can be set.
   */
  readonly word: number | undefined;
  /** Whether the word is that word of the base, except for the whitespace around it. */
  readonly isUnchanged: boolean;
  /** Whether the times are estimated ones of the base, or were computed from such. */
  readonly isEstimated: boolean;
}

/**
 * Returns the words of a paragraph with their times, which depend only on the base, the paragraph
 * and the times that were set. Unchanged words keep their times. Words that replace others share
 * their span, and inserted words get the pause in which they stand.
 */
export function timesOf(
  base: Base,
  paragraph: EditedParagraph,
  retimings: Retimings = noRetimings,
): TimedWord[] {
  const words: TimedWord[] = [];
  let offset = 0;
  let latest: Moment | undefined;
  for (const block of alignRun(base, paragraph.from, paragraph.to, paragraph.text)) {
    for (const timed of timedBlock(base, { block, paragraph, retimings })) {
      const { text, word, isUnchanged, isEstimated } = timed;
      // Computed times follow the words before, which may overlap.
      const start = latest && word === undefined ? later(timed.start, latest) : timed.start;
      const end = later(timed.end, start);
      latest = start;
      words.push({
        text,
        offset,
        startTime: start.text,
        endTime: end.text,
        start: start.seconds,
        end: end.seconds,
        word,
        isUnchanged,
        isEstimated,
      });
      offset += text.length;
    }
  }
  return words;
}

interface Timed {
  readonly text: string;
  readonly start: Moment;
  readonly end: Moment;
  readonly word: number | undefined;
  readonly isUnchanged: boolean;
  readonly isEstimated: boolean;
}

function timedBlock(
  base: Base,
  {
    block,
    paragraph,
    retimings,
  }: {
    readonly block: Block;
    readonly paragraph: EditedParagraph;
    readonly retimings: Retimings;
  },
): Timed[] {
  if (block.kind === "unchanged") {
    const { word, text } = block;
    const isEstimated = isEstimatedWord(base, retimings, word);
    return [{ text, ...spanOfWord(base, retimings, word), word, isUnchanged: true, isEstimated }];
  }
  const { from, to, texts } = block;
  if (texts.length === 0) return [];
  if (to - from === texts.length) {
    return texts.map((text, at) => ({
      text,
      ...spanOfWord(base, retimings, from + at),
      word: from + at,
      isUnchanged: false,
      isEstimated: isEstimatedWord(base, retimings, from + at),
    }));
  }
  const weights = texts.map(spokenSeconds);
  const span: Span =
    from === to
      ? gapFor(base, { paragraph, retimings, edge: from, seconds: sum(weights) })
      : spanOfWords(base, { paragraph, retimings, from, to });
  const edges = sharedEdges(span, weights);
  // An inserted word has the pause between its neighbors.
  const [first, last] = from === to ? [from - 1, to] : [from, to - 1];
  const isEstimated = hasEstimated(base, retimings, first, last);
  const { start, end, latestStart = end } = span;
  return texts.map((text, at) => ({
    text,
    start: earlier(edges[at] ?? start, latestStart),
    end: later(edges[at] ?? start, edges[at + 1] ?? end),
    word: undefined,
    isUnchanged: false,
    isEstimated,
  }));
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

/** Divides a span by weight; returns the edges of the shares, including both ends of the span. */
function sharedEdges(
  { start, end }: { readonly start: Moment; readonly end: Moment },
  weights: readonly number[],
): Moment[] {
  const total = sum(weights);
  const length = end.seconds - start.seconds;
  let before = 0;
  const edges = weights.map((weight) => {
    const edge = momentWithin(start.seconds + (length * before) / total, start, end);
    before += weight;
    return edge;
  });
  return [...edges, end];
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
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
