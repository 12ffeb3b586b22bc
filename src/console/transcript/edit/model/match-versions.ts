import { matchWords } from "../../../../std/word-matches/match-words.ts";
import { alignTokens, numbered } from "./align-tokens.ts";
import type { Base } from "./base.ts";

/** Words of an edited text; `ref` is the index of the word of the base, or -1. */
export interface EditedWords {
  readonly tokens: readonly { readonly text: string; readonly ref: number }[];
  /** For each word of the base, the index of its token; -1 if it was removed. */
  readonly places: Int32Array;
}

/**
 * Finds the words of a base in a version: for each word of the version, the index of the same word
 * in the base, or -1. Words with the same times are found first. Between them, the version may say
 * the same as an edited text, of which it is then known which words are those of the base.
 */
export function matchVersions(base: Base, version: Base, edited: EditedWords): Int32Array {
  const found = new Int32Array(version.words.length).fill(-1);
  const [words, otherWords] = [trimmedWords(base), trimmedWords(version)];
  const [timed, otherTimed] = [timedWords(base, words), timedWords(version, otherWords)];
  let [from, otherFrom] = [0, 0];
  const matchBetween = (to: number, otherTo: number): void => {
    if (from === to || otherFrom === otherTo) return;
    const [said, otherSaid] = [words.slice(from, to), otherWords.slice(otherFrom, otherTo)];
    const refs = areSame(said, otherSaid)
      ? undefined
      : refsOfEdited(edited, { from, to }, otherSaid);
    if (refs) {
      found.set(refs, otherFrom);
      return;
    }
    for (const link of alignTokens(said, otherSaid)) {
      if (link.isSame) found[otherFrom + link.otherFrom] = from + link.from;
    }
  };
  const isEdited =
    !areSame(words, otherWords) &&
    refsOfEdited(edited, { from, to: words.length }, otherWords) !== undefined;
  for (const [at, otherAt] of isEdited ? [] : matchUnique(timed, otherTimed)) {
    matchBetween(at, otherAt);
    found[otherAt] = at;
    [from, otherFrom] = [at + 1, otherAt + 1];
  }
  matchBetween(words.length, otherWords.length);
  return found;
}

function areSame(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((word, at) => word === other[at]);
}

/**
 * Returns the words of the base that an edited text has between two words of it, if it says the
 * same as `said` there; undefined otherwise.
 */
function refsOfEdited(
  { tokens, places }: EditedWords,
  { from, to }: { readonly from: number; readonly to: number },
  said: readonly string[],
): number[] | undefined {
  const before = from === 0 ? -1 : (places[from - 1] ?? -1);
  const after = to === places.length ? tokens.length : (places[to] ?? -1);
  if ((from > 0 && before < 0) || after < 0) return undefined;
  const refs: number[] = [];
  let at = before + 1;
  const isBlank = (): boolean => at < after && tokens[at]?.text.trim() === "";
  for (const word of said) {
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

function trimmedWords({ words }: Base): string[] {
  return words.map(({ word = "" }) => word.trim());
}

function timedWords({ words }: Base, trimmed: readonly string[]): string[] {
  return words.map(({ startTime, endTime }, at) => `${startTime} ${endTime} ${trimmed[at]}`);
}

/** Matches the items that occur once in both lists. */
function matchUnique(one: readonly string[], other: readonly string[]): [number, number][] {
  const numbers = new Map<string, number>();
  const [all, otherAll] = [numbered(one, numbers), numbered(other, numbers)];
  const [counts, otherCounts] = [countsOf(all, numbers.size), countsOf(otherAll, numbers.size)];
  const isUnique = (number = 0): boolean => counts[number] === 1 && otherCounts[number] === 1;
  const [unique, otherUnique] = [all, otherAll].map((list) =>
    Int32Array.from(list.keys()).filter((at) => isUnique(list[at])),
  );
  if (!unique || !otherUnique) return [];
  const { before, after } = matchWords(
    unique.map((at) => all[at] ?? 0),
    otherUnique.map((at) => otherAll[at] ?? 0),
  );
  return before.map((at, index) => [unique[at] ?? 0, otherUnique[after[index] ?? 0] ?? 0]);
}

function countsOf(list: Int32Array, size: number): Int32Array {
  const counts = new Int32Array(size);
  for (const number of list) counts[number] = (counts[number] ?? 0) + 1;
  return counts;
}
