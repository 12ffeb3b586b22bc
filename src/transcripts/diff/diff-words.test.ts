import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { diffWords, type DiffWord, type WordSpan } from "./diff-words.ts";
import { editsMax } from "../../std/word-matches/match-words.ts";

/**
 * Returns the words of a text, each with its index as its time, or with the number after "@":
 * "góðan dag@7".
 */
function wordsOf(text: string): DiffWord[] {
  const parts = text === "" ? [] : text.split(" ");
  return parts.map((part, index) => {
    const [word = "", time = `${index}`] = part.split("@");
    return wordAt(word, time);
  });
}

function wordAt(text: string, time: number | string): DiffWord {
  return {
    text: `${text} `,
    startTime: `${time}s`,
    endTime: `${time}.500s`,
    speakerId: "",
    isFirst: false,
  };
}

function brief(spans: readonly WordSpan[]): string {
  return spans.map(({ kind, count }) => `${kind}:${count}`).join(" ");
}

test("diffWords() finds the smallest change from one text to the other", () => {
  const rows: [before: string, after: string, spans: string][] = [
    ["", "", ""],
    ["", "a b", "ADDED:2"],
    ["a b", "", "REMOVED:2"],
    ["a b", "a b", "KEPT:2"],
    ["a b c", "a@0 x@1 c@2", "KEPT:1 REMOVED:1 ADDED:1 KEPT:1"],
    ["a b c d", "a c@2 d@3", "KEPT:1 REMOVED:1 KEPT:2"],
    ["a b", "x@0 a@0 b@1", "ADDED:1 KEPT:2"],
    ["a b", "a@1 b@2", "RETIMED:2"],
    ["a b c", "a b@9 c@10", "KEPT:1 RETIMED:2"],
    ["a b c", "c b a", "REMOVED:2 RETIMED:1 ADDED:2"],
    // The repeated word whose time is missing was removed, and the word with a new time was added.
    ["já já já", "já@0 já@2", "KEPT:1 REMOVED:1 KEPT:1"],
    ["já já", "já@1", "REMOVED:1 KEPT:1"],
    ["já@0 já@2", "já@0 já@1 já@2", "KEPT:1 ADDED:1 KEPT:1"],
    ["a b a b", "a@2 b@3", "REMOVED:2 KEPT:2"],
  ];
  for (const [before, after, spans] of rows) {
    const found = brief(diffWords(wordsOf(before), wordsOf(after)).spans);
    assert.equal(found, spans, `${before} | ${after}`);
  }
});

test("diffWords() ignores whitespace around words, and counts changes of speakers and segments", () => {
  const one = wordAt("a", 0);
  const changed = { ...one, text: "a\n", speakerId: "b", isFirst: true };
  const { spans, respoken, resegmented } = diffWords([one, one], [changed, one]);
  assert.equal(brief(spans), "KEPT:2");
  assert.deepEqual([respoken, resegmented], [1, 1]);
});

const words = fc.array(
  fc.record({ text: fc.constantFrom("a", "b", "c", "d", "og"), time: fc.nat(3) }),
  { maxLength: 40 },
);

test("the runs convert each text to the other, and describe every word correctly", () => {
  fc.assert(
    fc.property(words, words, (one, other) => {
      const before = one.map(({ text, time }) => wordAt(text, time));
      const after = other.map(({ text, time }) => wordAt(text, time));
      checkSpans(before, after);
    }),
    { numRuns: 1000 },
  );
});

function checkSpans(before: readonly DiffWord[], after: readonly DiffWord[]): readonly WordSpan[] {
  const { spans } = diffWords(before, after);
  let [beforeIndex, afterIndex] = [0, 0];
  for (const [index, span] of spans.entries()) {
    const { kind, count } = span;
    assert.deepEqual([span.beforeIndex, span.afterIndex], [beforeIndex, afterIndex]);
    assert.ok(count > 0 && kind !== spans[index - 1]?.kind);
    assert.ok(kind !== "REMOVED" || spans[index - 1]?.kind !== "ADDED", "removed before added");
    for (let at = 0; at < count; at += 1) {
      if (kind === "ADDED" || kind === "REMOVED") break;
      const [one, other] = [before[beforeIndex + at], after[afterIndex + at]];
      if (one?.text !== other?.text) assert.fail(`${one?.text} is not ${other?.text}`);
      if ((one?.startTime === other?.startTime) !== (kind === "KEPT")) assert.fail(kind);
    }
    if (kind !== "ADDED") beforeIndex += count;
    if (kind !== "REMOVED") afterIndex += count;
  }
  assert.deepEqual([beforeIndex, afterIndex], [before.length, after.length]);
  return spans;
}

test("diffWords() finds a shortest diff", () => {
  fc.assert(
    fc.property(words, words, (one, other) => {
      const before = one.map(({ text }) => wordAt(text, 0));
      const after = other.map(({ text }) => wordAt(text, 0));
      const kept = checkSpans(before, after).filter(({ kind }) => kind === "KEPT");
      const count = kept.reduce((sum, span) => sum + span.count, 0);
      assert.equal(count, longestCommon(before, after));
    }),
    { numRuns: 500 },
  );
});

/** Returns the length of a longest common subsequence, by dynamic programming. */
function longestCommon(before: readonly DiffWord[], after: readonly DiffWord[]): number {
  let row: number[] = Array.from({ length: after.length + 1 }, () => 0);
  for (const { text } of before) {
    const next = [0];
    for (const [at, other] of after.entries()) {
      const longer = Math.max(row[at + 1] ?? 0, next[at] ?? 0);
      next.push(other.text === text ? (row[at] ?? 0) + 1 : longer);
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}

const count = 36_000;
/**
 * Creates words with the frequencies of a natural language: the most frequent word is every ninth
 * word.
 */
function talk(seed: number): DiffWord[] {
  const random = fc.sample(fc.double({ min: 0, max: 1, noNaN: true }), { seed, numRuns: count });
  return random.map((share, at) => wordAt(`w${Math.floor(Math.exp(share * 9))}`, at));
}

test("diffWords() finds many edits in hours of speech, and compares entirely different texts in bounded time", () => {
  const before = talk(1);
  const edited = before.flatMap((word, at) => {
    if (at % 20 === 3) return [wordAt(`new${at}`, at), word];
    return at % 33 === 0 ? [] : [word];
  });
  const added = before.filter((_, at) => at % 20 === 3).length;
  assert.ok(added > editsMax);
  const spans = checkSpans(before, edited);
  const addedFound = spans.filter(({ kind }) => kind === "ADDED").reduce((n, s) => n + s.count, 0);
  assert.ok(addedFound < added * 1.1, `${addedFound} of ${added}`);
  // No word occurs only once.
  const repetitive = before.map((_, at) => wordAt(`${(at * 7) % 500}`, at));
  const others = repetitive.map((word, at) => (at % 9 === 0 ? wordAt(`x${at}`, at) : word));
  const kept = checkSpans(repetitive, others).filter(({ kind }) => kind === "KEPT");
  assert.equal(
    kept.reduce((sum, span) => sum + span.count, 0),
    32_000,
  );
  const rows: [name: string, before: DiffWord[], after: DiffWord[]][] = [
    ["another talk", before, talk(2)],
    [
      "two words",
      before.map((_, at) => wordAt(`${at % 2}`, at)),
      before.map((_, at) => wordAt(`${at % 3}`, at)),
    ],
    [
      "backwards",
      before.map((_, at) => wordAt(`${at}`, at)),
      before.map((_, at) => wordAt(`${count - at}`, at)),
    ],
    ["nothing alike", before, before.map((_, at) => wordAt(`x${at}`, at))],
  ];
  for (const [name, one, other] of rows) {
    assert.ok(checkSpans(one, other).length > 1, name);
  }
  assert.deepEqual(diffWords(before, edited).spans, spans);
  const middle = talk(3).map((word, at) =>
    at < 500 || at >= count - 700 ? (before[at] ?? word) : word,
  );
  const around = checkSpans(before, middle);
  assert.ok((around[0]?.count ?? 0) >= 500 && (around.at(-1)?.count ?? 0) >= 700);
});
