import { matchWords } from "../../std/word-matches/match-words.ts";
import { slideGaps } from "../../std/word-matches/slide-gaps.ts";
import type { Matches } from "../../std/word-matches/shortest-script.ts";

/** A word of a version. Times are durations in proto3 JSON. */
export interface DiffWord {
  readonly text: string;
  readonly startTime: string;
  readonly endTime: string;
  readonly speakerId: string;
  /** Whether the word is the first in its segment. */
  readonly isFirst: boolean;
}

/** A WordRun of the contract, with the index of its first word on each side. */
export interface WordSpan {
  readonly kind: "KEPT" | "RETIMED" | "ADDED" | "REMOVED";
  readonly count: number;
  readonly afterIndex: number;
  readonly beforeIndex: number;
}

export interface WordDiff {
  readonly spans: readonly WordSpan[];
  readonly respoken: number;
  readonly resegmented: number;
}

/** Returns the word changes between two versions. Whitespace around a word does not matter. */
export function diffWords(before: readonly DiffWord[], after: readonly DiffWord[]): WordDiff {
  const numbers = new Map<string, number>();
  const [one, other] = [numbered(before, numbers), numbered(after, numbers)];
  const matches = matchWords(one, other);
  slideGaps(matches, {
    beforeCount: one.length,
    afterCount: other.length,
    isSameBefore: (at, otherAt) => one[at] === one[otherAt],
    isSameAfter: (at, otherAt) => other[at] === other[otherAt],
    isKept: (at, otherAt) => isKept(before[at], after[otherAt]),
  });
  return { spans: spansOf(before, after, matches), ...changesOf(before, after, matches) };
}

/** Replaces words with numbers, so that equal texts have equal numbers. */
function numbered(words: readonly DiffWord[], numbers: Map<string, number>): Int32Array {
  return Int32Array.from(words, ({ text }) => {
    const key = text.trim();
    const number = numbers.get(key) ?? numbers.size;
    numbers.set(key, number);
    return number;
  });
}

function isKept(before: DiffWord | undefined, after: DiffWord | undefined): boolean {
  return before?.startTime === after?.startTime && before?.endTime === after?.endTime;
}

function spansOf(
  before: readonly DiffWord[],
  after: readonly DiffWord[],
  matches: Matches,
): WordSpan[] {
  const spans: WordSpan[] = [];
  let [beforeIndex, afterIndex] = [0, 0];
  const add = (kind: WordSpan["kind"], count: number): void => {
    if (count === 0) return;
    const last = spans.at(-1);
    if (last?.kind === kind) spans[spans.length - 1] = { ...last, count: last.count + count };
    else spans.push({ kind, count, afterIndex, beforeIndex });
    if (kind !== "ADDED") beforeIndex += count;
    if (kind !== "REMOVED") afterIndex += count;
  };
  for (const [index, at] of [...matches.before, before.length].entries()) {
    const otherAt = matches.after[index] ?? after.length;
    add("REMOVED", at - beforeIndex);
    add("ADDED", otherAt - afterIndex);
    if (at < before.length && otherAt < after.length) {
      add(isKept(before[at], after[otherAt]) ? "KEPT" : "RETIMED", 1);
    }
  }
  return spans;
}

function changesOf(
  before: readonly DiffWord[],
  after: readonly DiffWord[],
  matches: Matches,
): { respoken: number; resegmented: number } {
  let [respoken, resegmented] = [0, 0];
  for (const [index, at] of matches.before.entries()) {
    const [one, other] = [before[at], after[matches.after[index] ?? 0]];
    if (one?.speakerId !== other?.speakerId) respoken += 1;
    if (one?.isFirst !== other?.isFirst) resegmented += 1;
  }
  return { respoken, resegmented };
}
