import { atOnce } from "../../../../std/at-once.ts";
import { matchWordsSteps } from "../../../../std/word-matches/match-words.ts";
import { alignClosely, type Link } from "./align-closely.ts";
import { WordNumbers } from "./word-numbers.ts";

type Range = Omit<Link, "isSame">;

/**
 * The maximum product of the numbers of words of two texts that are aligned closely. In longer
 * texts only equal words are aligned, and then the shorter texts between them.
 */
const cellsMax = 90_000;

/**
 * Finds the words of two texts that correspond: equal words, and words that probably replace each
 * other. The result depends on nothing else.
 */
export function alignTokens(before: readonly string[], after: readonly string[]): Link[] {
  return atOnce(alignTokensSteps(before, after));
}

/** Does the same as alignTokens(), and yields often. */
export function* alignTokensSteps(
  before: readonly string[],
  after: readonly string[],
): Generator<void, Link[], void> {
  const shorter = Math.min(before.length, after.length);
  let head = 0;
  while (head < shorter && before[head] === after[head]) head += 1;
  let tail = 0;
  while (tail < shorter - head && before.at(-1 - tail) === after.at(-1 - tail)) tail += 1;
  const [to, otherTo] = [before.length - tail, after.length - tail];
  const links = Array.from({ length: head }, (_, at) => pairAt(at, at));
  const middle = { from: head, to, otherFrom: head, otherTo };
  for (const link of yield* alignRange(before, after, middle)) links.push(link);
  for (let at = 0; at < tail; at += 1) links.push(pairAt(to + at, otherTo + at));
  return links;
}

function pairAt(from: number, otherFrom: number): Link {
  return { from, to: from + 1, otherFrom, otherTo: otherFrom + 1, isSame: true };
}

function* alignRange(
  before: readonly string[],
  after: readonly string[],
  range: Range,
): Generator<void, Link[], void> {
  const [count, otherCount] = [range.to - range.from, range.otherTo - range.otherFrom];
  if (count === 0 && otherCount === 0) return [];
  if (count === 0 || otherCount === 0) return [{ ...range, isSame: false }];
  const one = before.slice(range.from, range.to);
  const other = after.slice(range.otherFrom, range.otherTo);
  const isClose = count * otherCount <= cellsMax;
  const links = isClose ? alignClosely(one, other) : yield* alignLong(one, other);
  return links.map((link) => ({
    from: range.from + link.from,
    to: range.from + link.to,
    otherFrom: range.otherFrom + link.otherFrom,
    otherTo: range.otherFrom + link.otherTo,
    isSame: link.isSame,
  }));
}

function* alignLong(
  before: readonly string[],
  after: readonly string[],
): Generator<void, Link[], void> {
  const numbers = new WordNumbers();
  const one = yield* numberedSteps(before, numbers);
  const matches = yield* matchWordsSteps(one, yield* numberedSteps(after, numbers));
  const links: Link[] = [];
  let [from, otherFrom] = [0, 0];
  const addBetween = function* (to: number, otherTo: number): Generator<void, void, void> {
    if (from === to && otherFrom === otherTo) return;
    yield;
    const range = { from, to, otherFrom, otherTo };
    const isClose = (to - from) * (otherTo - otherFrom) <= cellsMax;
    if (isClose) for (const link of yield* alignRange(before, after, range)) links.push(link);
    else links.push({ ...range, isSame: false });
  };
  for (const [index, at] of matches.before.entries()) {
    const otherAt = matches.after[index] ?? 0;
    if (index % stepWords === stepWords - 1) yield;
    yield* addBetween(at, otherAt);
    links.push(pairAt(at, otherAt));
    [from, otherFrom] = [at + 1, otherAt + 1];
  }
  yield* addBetween(before.length, after.length);
  return links;
}

/** Replaces words with numbers, so that equal words have equal numbers. */
export function numbered(words: readonly string[], numbers: WordNumbers): Int32Array {
  return atOnce(numberedSteps(words, numbers));
}

/** Does the same as numbered(), and yields often. */
export function* numberedSteps(
  words: readonly string[],
  numbers: WordNumbers,
): Generator<void, Int32Array, void> {
  const all = new Int32Array(words.length);
  for (const [at, word] of words.entries()) {
    all[at] = numbers.of(word);
    if (at % stepWords === stepWords - 1) yield;
  }
  return all;
}

/** Does the same as map(), and yields often. */
export function* mappedSteps<Item, Result>(
  items: readonly Item[],
  to: (item: Item, at: number) => Result,
): Generator<void, Result[], void> {
  const results: Result[] = [];
  for (const [at, item] of items.entries()) {
    results.push(to(item, at));
    if (at % (8 * stepWords) === 0) yield;
  }
  return results;
}

/** The number of words after which work yields. They take less than 1 ms. */
export const stepWords = 512;
