import { matchWordsSteps } from "../../../../std/word-matches/match-words.ts";
import { alignTokensSteps, mappedSteps, numberedSteps, stepWords } from "./align-tokens.ts";
import type { Base } from "./base.ts";
import { WordNumbers } from "./word-numbers.ts";

/** Words of an edited text; `ref` is the index of the word of the base, or -1. */
export interface EditedWords {
  readonly tokens: readonly { readonly text: string; readonly ref: number }[];
  /** For each word of the base, the index of its token; -1 if it was removed. */
  readonly places: Int32Array;
}

/**
 * Finds the words of a base in a version: for each word of the version, the index of the same word
 * in the base, or -1. Words with the same times are found first. Between them, the version may say
 * the same as an edited text, of which it is then known which words are those of the base. Yields
 * often.
 */
export function* matchVersionsSteps(
  base: Base,
  version: Base,
  edited: EditedWords,
): Generator<void, Int32Array, void> {
  const found = new Int32Array(version.words.length).fill(-1);
  const { words, timed } = yield* wordsOf(base);
  const { words: otherWords, timed: otherTimed } = yield* wordsOf(version);
  let [from, otherFrom] = [0, 0];
  const matchBetween = function* (to: number, otherTo: number): Generator<void, void, void> {
    if (from === to || otherFrom === otherTo) return;
    const [said, otherSaid] = [words.slice(from, to), otherWords.slice(otherFrom, otherTo)];
    const refs = (yield* areSameSteps(said, otherSaid))
      ? undefined
      : yield* refsOfEditedSteps(edited, { from, to }, otherSaid);
    if (refs) {
      found.set(refs, otherFrom);
      return;
    }
    for (const link of yield* alignTokensSteps(said, otherSaid)) {
      if (link.isSame) found[otherFrom + link.otherFrom] = from + link.from;
    }
  };
  const whole = { from, to: words.length };
  const isEdited =
    !(yield* areSameSteps(words, otherWords)) &&
    (yield* refsOfEditedSteps(edited, whole, otherWords)) !== undefined;
  const unique = isEdited ? [] : yield* matchUnique(timed, otherTimed);
  for (const [index, [at, otherAt]] of unique.entries()) {
    const isNext = from === at && otherFrom === otherAt;
    yield* matchBetween(at, otherAt);
    found[otherAt] = at;
    [from, otherFrom] = [at + 1, otherAt + 1];
    if (!isNext || index % stepWords === 0) yield;
  }
  yield* matchBetween(words.length, otherWords.length);
  return found;
}

/** Whether two lists have the same words. Yields often. */
function* areSameSteps(
  one: readonly string[],
  other: readonly string[],
): Generator<void, boolean, void> {
  if (one.length !== other.length) return false;
  for (let at = 0; at < one.length; at += 1) {
    if (one[at] !== other[at]) return false;
    if (at % (8 * stepWords) === 8 * stepWords - 1) yield;
  }
  return true;
}

/**
 * Returns the words of the base that an edited text has between two words of it, if it says the
 * same as `said` there; undefined otherwise. Yields often.
 */
function* refsOfEditedSteps(
  { tokens, places }: EditedWords,
  { from, to }: { readonly from: number; readonly to: number },
  said: readonly string[],
): Generator<void, number[] | undefined, void> {
  const before = from === 0 ? -1 : (places[from - 1] ?? -1);
  const after = to === places.length ? tokens.length : (places[to] ?? -1);
  if ((from > 0 && before < 0) || after < 0) return undefined;
  const refs: number[] = [];
  let at = before + 1;
  const isBlank = (): boolean => at < after && tokens[at]?.text.trim() === "";
  for (const word of said) {
    if (refs.length % stepWords === stepWords - 1) yield;
    if (word === "") {
      refs.push(isBlank() ? (tokens[at]?.ref ?? -1) : -1);
      if (isBlank()) at += 1;
      continue;
    }
    while (isBlank()) at += 1;
    if (at >= after || tokens[at]?.text.trim() !== word) return undefined;
    refs.push(tokens[at]?.ref ?? -1);
    at += 1;
  }
  while (isBlank()) at += 1;
  return at === after ? refs : undefined;
}

/** Returns the words of a version without spaces, and the same with their times. */
function* wordsOf({
  words: all,
}: Base): Generator<void, { readonly words: string[]; readonly timed: string[] }, void> {
  const words: string[] = [];
  const timed: string[] = [];
  for (const [at, { word = "", startTime, endTime }] of all.entries()) {
    const trimmed = word.trim();
    words.push(trimmed);
    timed.push(`${startTime} ${endTime} ${trimmed}`);
    if (at % stepWords === stepWords - 1) yield;
  }
  return { words, timed };
}

/** Matches the items that occur once in both lists. */
function* matchUnique(
  one: readonly string[],
  other: readonly string[],
): Generator<void, [number, number][], void> {
  const numbers = new WordNumbers();
  const all = yield* numberedSteps(one, numbers);
  const otherAll = yield* numberedSteps(other, numbers);
  const counts = countsOf(all, numbers.size);
  yield;
  const otherCounts = countsOf(otherAll, numbers.size);
  yield;
  const isUnique = (number: number): boolean => counts[number] === 1 && otherCounts[number] === 1;
  const unique = yield* placesWhere(all, isUnique);
  const otherUnique = yield* placesWhere(otherAll, isUnique);
  const ownNumbers = numbersAt(all, unique);
  yield;
  const otherNumbers = numbersAt(otherAll, otherUnique);
  yield;
  const { before, after } = yield* matchWordsSteps(ownNumbers, otherNumbers);
  const placesOf = (at: number, index: number): [number, number] => [
    unique[at] ?? 0,
    otherUnique[after[index] ?? 0] ?? 0,
  ];
  return yield* mappedSteps(before, placesOf);
}

function* placesWhere(
  numbers: Int32Array,
  isWanted: (number: number) => boolean,
): Generator<void, number[], void> {
  const places: number[] = [];
  for (let at = 0; at < numbers.length; at += 1) {
    if (isWanted(numbers[at] ?? 0)) places.push(at);
    if (at % (8 * stepWords) === 0) yield;
  }
  return places;
}

function numbersAt(numbers: Int32Array, places: readonly number[]): Int32Array {
  const found = new Int32Array(places.length);
  for (const [index, place] of places.entries()) found[index] = numbers[place] ?? 0;
  return found;
}

function countsOf(list: Int32Array, size: number): Int32Array {
  const counts = new Int32Array(size);
  for (const number of list) counts[number] = (counts[number] ?? 0) + 1;
  return counts;
}
