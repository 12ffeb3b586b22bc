import assert from "node:assert/strict";
import { test } from "node:test";
import type { Hypothesis } from "../protocol/engine.ts";
import { withoutPunctuation } from "./written-form.ts";

const reading = (text: string): Hypothesis => ({
  text,
  words: text.split(" ").map((word, index) => ({
    text: word,
    startMs: 100 * index,
    endMs: 100 * index + 90,
  })),
});

test("withoutPunctuation() removes punctuation around words and keeps it within them", () => {
  const rows: [written: string, plain: string][] = [
    ["Hello, world.", "Hello world"],
    ["«Góðan daginn!» sagði hún …", "Góðan daginn sagði hún"],
    ["It's nine o'clock - isn't it?", "It's nine o'clock isn't it"],
    ["Um 2.500 manns, þ.e. 3,5% fleiri", "Um 2.500 manns þ.e 3,5% fleiri"],
    ["e-mail @home #1 R&D", "e-mail @home #1 R&D"],
    ["plain words", "plain words"],
    ["-5 degrees, -- and - 3", "-5 degrees and 3"],
    ["(§ 8) 5‰ of R&D.", "§ 8 5‰ of R&D"],
    ["Þann 1. maí 2020. Svo 3. og 4.", "Þann 1. maí 2020 Svo 3. og 4"],
  ];
  for (const [written, plain] of rows) {
    const [found] = withoutPunctuation([reading(written)]);
    assert.equal(found?.text, plain);
    assert.equal(found.words.map(({ text }) => text).join(" "), plain);
  }
});

test("withoutPunctuation() keeps readings distinct and in order, and drops empty ones", () => {
  const readings = ["Yes.", "Yes!", "...", "Yes, no"].map(reading);
  const texts = withoutPunctuation(readings).map(({ text }) => text);
  assert.deepEqual(texts, ["Yes", "Yes no"]);
});

test("withoutPunctuation() keeps the times and confidences of words", () => {
  const word = { text: "one,", startMs: 20, endMs: 80, confidence: 0.5 };
  const [found] = withoutPunctuation([{ text: "one,", confidence: 0.4, words: [word] }]);
  assert.deepEqual(found, { text: "one", confidence: 0.4, words: [{ ...word, text: "one" }] });
});
