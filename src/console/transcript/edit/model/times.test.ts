import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import {
  assertRuns,
  drawnEdits,
  drawnSegments,
} from "../../../../../test/fixtures/edited-texts.ts";
import { runs } from "../../../../../test/fixtures/property-runs.ts";
import { baseOf, paragraphsOf, segmentOfWord } from "./base.ts";
import { dividedAt, edgeAt, joined } from "./divide.ts";
import { offsetAtTime, timesOf, wordAtOffset, wordAtTime } from "./times.ts";

/** A segment with one word for each second. */
function segmentOf(said: string, start: number, speakerId = "") {
  const words = said.split(/(?<=\s)/).map((word, at) => ({
    startTime: `${start + at}s`,
    endTime: `${start + at}.500s`,
    word,
  }));
  return { startTime: `${start}s`, endTime: `${start + words.length}s`, words, speakerId };
}

/** Returns the words of the first paragraph after its text was changed: "text start-end". */
function timed(said: string, text: string): string[] {
  const base = baseOf([segmentOf(said, 0)]);
  const [paragraph] = paragraphsOf(base);
  assert.ok(paragraph);
  return timesOf(base, { ...paragraph, text }).map(
    (word) => `${word.text.trim()} ${word.start}-${word.end}${word.isUnchanged ? "" : "*"}`,
  );
}

test("timesOf() keeps the times of unchanged words, and shares, fills or drops those of the others", () => {
  const rows: [said: string, text: string, words: string[]][] = [
    ["a b c", "a b c", ["a 0-0.5", "b 1-1.5", "c 2-2.5"]],
    ["a b c", "a b c ", ["a 0-0.5", "b 1-1.5", "c 2-2.5"]],
    ["a b c", "a x c", ["a 0-0.5", "x 1-1.5*", "c 2-2.5"]],
    ["a b c", "a c", ["a 0-0.5", "c 2-2.5"]],
    ["a b c", "a b x c", ["a 0-0.5", "b 1-1.5", "x 1.5-1.639*", "c 2-2.5"]],
    ["a b c", "a x y c", ["a 0-0.5", "x 1-1.25*", "y 1.25-1.5*", "c 2-2.5"]],
    ["a b c d", "a x d", ["a 0-0.5", "x 1-2.5*", "d 3-3.5"]],
    ["a b", "x a b", ["x 0-0.139*", "a 0-0.5", "b 1-1.5"]],
    ["a b", "", []],
    ["a b", "   ", [" 0-1.5*"]],
    // The base may have words of whitespace only.
    [" og ", "  ", [" 0-1.5*"]],
  ];
  const more: typeof rows = [
    // Words that became one, and one that became two.
    ["ég al þingi nú", "ég alþingi nú", ["ég 0-0.5", "alþingi 1-2.5*", "nú 3-3.5"]],
    [
      "ég alþingi nú",
      "ég al þingi nú",
      ["ég 0-0.5", "al 1-1.176*", "þingi 1.176-1.5*", "nú 2-2.5"],
    ],
    // A word with another ending replaces the word, and another word is new.
    [
      "um hest nú",
      "um hestinn nei nú",
      ["um 0-0.5", "hestinn 1-1.5*", "nei 1.5-1.747*", "nú 2-2.5"],
    ],
    ["Já, sko nei", "já nei", ["já 0-0.5*", "nei 2-2.5"]],
    // One kept word between a new and a deleted one.
    ["a b c d e", "a x b c e", ["a 0-0.5", "x 0.5-0.639*", "b 1-1.5", "c 2-2.5", "e 4-4.5"]],
  ];
  rows.push(...more);
  for (const [said, text, words] of rows) assert.deepEqual(timed(said, text), words, text);
});

test("edgeAt() finds the word of the base at a caret", () => {
  const base = baseOf([segmentOf("góðan daginn allir", 0)]);
  const [paragraph] = paragraphsOf(base);
  assert.ok(paragraph);
  const rows: [text: string, offset: number, edge: number][] = [
    ["góðan daginn allir", 0, 0],
    ["góðan daginn allir", 2, 0],
    ["góðan daginn allir", 3, 1],
    ["góðan daginn allir", 6, 1],
    ["góðan daginn allir", 12, 2],
    ["góðan daginn allir", 18, 3],
    ["góðan allir", 6, 2],
  ];
  for (const [text, offset, edge] of rows) {
    assert.equal(edgeAt(base, { ...paragraph, text }, offset), edge, `${text} ${offset}`);
  }
});

test("joined() undoes dividedAt()", () => {
  const base = baseOf([segmentOf("góðan daginn allir", 0, "1")]);
  const [paragraph] = paragraphsOf(base);
  assert.ok(paragraph);
  for (const [offset, text] of [
    [5, "góðan "],
    [6, "góðan "],
    [12, "góðan daginn"],
    [13, "góðan daginn "],
  ] as const) {
    const [one, next] = dividedAt(base, paragraph, offset);
    assert.equal(one.text.trimEnd(), text.trimEnd());
    assert.deepEqual(joined(one, next), paragraph);
  }
});

test("words that contain spaces, and words without spaces between them, keep their times", () => {
  const times = (at: number) => ({ startTime: `${at}s`, endTime: `${at + 1}s` });
  const words = ["New York ", "er ", "今日", "は", "良い", "天気", "です "];
  const base = baseOf([
    {
      startTime: "0s",
      endTime: "9s",
      words: words.map((word, at) => ({ ...times(at), word })),
    },
  ]);
  const [paragraph] = paragraphsOf(base);
  assert.ok(paragraph);
  const rows: [text: string, kept: number[]][] = [
    ["New York var 今日は良い天気です ", [0, 2, 3, 4, 5, 6]],
    ["New Jersey er 今日は良い天気です ", [1, 2, 3, 4, 5, 6]],
    ["New York er 昨日は悪い天気です ", [0, 1, 3, 5, 6]],
    ["Í New York er 今日は、良い天気です", [0, 1, 2, 3, 4, 5, 6]],
  ];
  for (const [text, kept] of rows) {
    const timed = timesOf(base, { ...paragraph, text });
    assert.equal(timed.map((word) => word.text).join(""), text);
    const found = timed.flatMap(({ word, isUnchanged }) => (isUnchanged ? [word] : []));
    assert.deepEqual(found, kept, text);
  }
});

test("whitespace stays where the base has it, also before words", () => {
  const rows: [words: string[], text: string, found: string[]][] = [
    [[" a", " b", " c"], " a b c d", [" a", " b", " c", " d"]],
    [[" a", " b", " c"], " a x c", [" a", " x", " c"]],
    [["a ", "b ", "c"], "a x c", ["a ", "x ", "c"]],
    [["a ", "b ", "c"], "a b  c", ["a ", "b  ", "c"]],
    [["dag.", "og ", "vel"], "dag. og vel", ["dag. ", "og ", "vel"]],
    [["a ", " ", "b ", " c"], "a  c", ["a ", " ", "c"]],
  ];
  for (const [words, text, found] of rows) {
    const timed = words.map((word, at) => ({ startTime: `${at}s`, endTime: `${at + 1}s`, word }));
    const base = baseOf([{ startTime: "0s", endTime: "9s", words: timed }]);
    const [paragraph] = paragraphsOf(base);
    assert.ok(paragraph);
    assert.deepEqual(
      timesOf(base, { ...paragraph, text }).map((word) => word.text),
      found,
    );
  }
});

test("the words of a paragraph are its text, in the order of their starts", () => {
  fc.assert(
    fc.property(drawnEdits, ({ base, paragraphs, retimings }) => {
      assertRuns(base, paragraphs);
      for (const paragraph of paragraphs) {
        const { from, to } = paragraph;
        const words = timesOf(base, paragraph, retimings);
        const isOneSegment = segmentOfWord(base, from) === segmentOfWord(base, to - 1);
        // A time set while the next word was deleted may be after it. Saving puts it in order.
        const isRetimed = retimings.keys().some((word) => from <= word && word < to);
        const isInOrder = from < to && isOneSegment && !isRetimed;
        let offset = 0;
        let latest = 0;
        for (const word of words) {
          assert.equal(word.offset, offset);
          assert.ok(word.start <= word.end && word.start >= 0);
          if (isInOrder) assert.ok(word.start >= latest);
          latest = word.start;
          offset += word.text.length;
          const own = word.isUnchanged && word.word !== undefined ? base.words[word.word] : null;
          if (own && word.word !== undefined && !word.isPinned && !retimings.has(word.word)) {
            assert.deepEqual([word.startTime, word.endTime], [own.startTime, own.endTime]);
          }
          const isEmpty = word.text === "";
          assert.ok(!isEmpty || own?.word === "", "only words of the base are empty");
        }
        assert.equal(words.map(({ text }) => text).join(""), paragraph.text);
        for (const [index, word] of words.entries()) {
          if (word.text === "") continue;
          const inside = word.offset + word.text.length - 1;
          assert.equal(words[wordAtOffset(words, inside)]?.offset, words[index]?.offset);
        }
      }
    }),
    { numRuns: runs(2_000) },
  );
});

test("unedited paragraphs have the words of the base to the digit", () => {
  fc.assert(
    fc.property(drawnSegments, (segments) => {
      const base = baseOf(segments);
      const words = paragraphsOf(base).flatMap((paragraph) => timesOf(base, paragraph));
      assert.deepEqual(
        words.map(({ startTime, endTime, text, word }) => [startTime, endTime, text, word]),
        base.words.map(({ startTime, endTime, word }, at) => [startTime, endTime, word, at]),
      );
    }),
  );
});

test("words between small edits keep their times", () => {
  const word = fc.stringMatching(/^[a-zþæö]{1,8}$/);
  const edit = fc.record({
    kept: fc.array(word, { minLength: 4, maxLength: 9 }),
    removed: fc.array(word, { maxLength: 2 }),
    added: fc.array(word, { maxLength: 2 }),
  });
  fc.assert(
    fc.property(fc.array(edit, { minLength: 1, maxLength: 30 }), (edits) => {
      const all = edits.flatMap(({ kept, removed, added }) => [...kept, ...removed, ...added]);
      fc.pre(new Set(all).size === all.length);
      // A word that is two others joined may as well have been divided as removed.
      const pairs = new Set(all.flatMap((one) => all.map((other) => one + other)));
      fc.pre(!all.some((each) => pairs.has(each)));
      const said = edits.flatMap(({ kept, removed }) => [...kept, ...removed]);
      const text = edits.flatMap(({ kept, added }) => [...kept, ...added]).join(" ");
      const base = baseOf([segmentOf(said.join(" "), 0)]);
      const run = { from: 0, to: said.length, speaker: "", isSoft: false };
      const found = timesOf(base, { ...run, text }).flatMap((each) =>
        each.isUnchanged ? [each.text.trim()] : [],
      );
      assert.deepEqual(
        found,
        edits.flatMap(({ kept }) => kept),
      );
    }),
    { numRuns: runs(1_200) },
  );
});

test("wordAtTime() and offsetAtTime() find the word that is said", () => {
  const base = baseOf([segmentOf("góðan daginn allir", 10)]);
  const [paragraph] = paragraphsOf(base);
  assert.ok(paragraph);
  const words = timesOf(base, { ...paragraph, text: "góðan dag allir" });
  const rows: [seconds: number, word: number, offset: number][] = [
    [0, -1, 0],
    [10, 0, 0],
    [11.2, 1, 6],
    [12, 2, 10],
    [99, 2, 10],
  ];
  for (const [seconds, word, offset] of rows) {
    assert.equal(wordAtTime(words, seconds), word);
    assert.equal(offsetAtTime(words, seconds), offset);
  }
  assert.equal(wordAtOffset([], 3), -1);
});
