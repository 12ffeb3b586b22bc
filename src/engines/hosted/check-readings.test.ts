import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { checkedReadings } from "./check-readings.ts";
import type { ServerReading, ServerWord } from "./hosted-server.ts";
import { ServerFailure } from "./server-failure.ts";

const lengthMs = 2000;
const word = (text: string, startMs: number, endMs: number, confidence?: number): ServerWord => ({
  text,
  startMs,
  endMs,
  confidence,
});
const reading = (text: string, ...words: ServerWord[]): ServerReading => ({ text, words });
const check = (...results: (readonly ServerReading[])[]) =>
  checkedReadings(results, { lengthMs, alternativesMax: 3 });

describe("checkedReadings()", () => {
  test("keeps texts, times and confidences", () => {
    const words = [word("good", 100, 400, 0.5), word("day", 400.4, 900, 1)];
    assert.deepEqual(check([{ text: " good\n day ", confidence: 0.75, words }]), [
      {
        text: "good day",
        confidence: 0.75,
        words: [
          { text: "good", startMs: 100, endMs: 400, confidence: 0.5 },
          { text: "day", startMs: 400, endMs: 900, confidence: 1 },
        ],
      },
    ]);
  });

  test("gives the words of the text, with its punctuation", () => {
    const found = check([reading("Good, day.", word(" Good", 0, 400), word(" day", 400, 900))]);
    assert.deepEqual(
      found[0]?.words.map(({ text }) => text),
      ["Good,", "day."],
    );
  });

  test("invents nothing: no times for words that do not make up the text, and no confidence", () => {
    const rows: ServerReading[] = [
      reading("good day"),
      reading("good day", word("good", 0, 400)),
      reading("good day", word("go", 0, 200), word("od", 200, 400), word("day", 400, 900)),
    ];
    for (const row of rows) assert.deepEqual(check([row]), [{ text: "good day", words: [] }]);
    for (const confidence of [0, -1, -7.5, 250.3]) {
      const said = [{ text: "good", confidence, words: [word("good", 0, 400, confidence)] }];
      assert.deepEqual(check(said), [
        { text: "good", words: [{ text: "good", startMs: 0, endMs: 400 }] },
      ]);
    }
  });

  test("returns nothing for silence and for signs without words", () => {
    assert.deepEqual(check([reading("")], [reading(" \n")], [reading("...")], []), []);
  });

  test("returns distinct readings, at most as many as requested", () => {
    const found = check([reading("a"), reading("b"), reading("a"), reading("c"), reading("d")]);
    assert.deepEqual(
      found.map(({ text }) => text),
      ["a", "b", "c"],
    );
  });

  test("joins the results of consecutive parts", () => {
    const first = [reading("good day", word("good", 0, 400), word("day", 400, 900)), reading("x")];
    const found = check(first, [reading("to you", word("to", 900, 1200), word("you", 1200, 1500))]);
    assert.equal(found.length, 1);
    assert.equal(found[0]?.text, "good day to you");
    assert.deepEqual(
      found[0]?.words.map(({ startMs }) => startMs),
      [0, 400, 900, 1200],
    );
    assert.deepEqual(check(first, [reading("to you")])[0]?.words, []);
  });

  test("puts words that overlap or have no length in order, within the utterance", () => {
    const words = [word("a", 0, 500), word("b", 450, 450), word("c", 1990, 2600)];
    assert.deepEqual(check([reading("a b c", ...words)])[0]?.words, [
      { text: "a", startMs: 0, endMs: 500 },
      { text: "b", startMs: 500, endMs: 501 },
      { text: "c", startMs: 1990, endMs: 2000 },
    ]);
  });

  const impossible: [what: string, ...words: ServerWord[]][] = [
    ["a time that is not a number", word("a", NaN, 400), word("b", 400, 900)],
    ["an infinite time", word("a", 0, Infinity), word("b", 400, 900)],
    ["a negative time", word("a", -1, 400), word("b", 400, 900)],
    ["an end before the start", word("a", 500, 400), word("b", 600, 900)],
    ["words out of order", word("a", 900, 950), word("b", 0, 400)],
    ["a time after the audio", word("a", 0, 400), word("b", 400, 3001)],
  ];
  for (const [what, ...words] of impossible) {
    test(`keeps the text, without times, for ${what}`, () => {
      assert.deepEqual(check([reading("a b", ...words)]), [{ text: "a b", words: [] }]);
    });
  }

  test("leaves out a confidence that is not a number", () => {
    assert.deepEqual(check([{ ...reading("a"), confidence: NaN }]), [{ text: "a", words: [] }]);
  });

  const refused: [what: string, reading: ServerReading, problem: RegExp][] = [
    ["a text of a million letters", reading("a".repeat(1_000_000)), /more than 10000 characters/],
  ];
  for (const [what, bad, problem] of refused) {
    test(`refuses ${what}`, () => {
      assert.throws(
        () => check([bad]),
        (error) => error instanceof ServerFailure && problem.test(error.message),
      );
    });
  }

  test("refuses a text that is too long in many parts", () => {
    const parts = Array.from({ length: 12 }, () => [reading("abcd ".repeat(200))]);
    assert.throws(() => check(...parts), /more than 10000 characters/);
  });
});
