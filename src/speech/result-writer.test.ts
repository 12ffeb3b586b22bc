import assert from "node:assert/strict";
import { test } from "node:test";
import type { Recognition } from "../engines/protocol/recognizer.ts";
import { spokenText } from "../../test/fixtures/random-speech.ts";
import { ResultWriter } from "./result-writer.ts";

const off = { languageCode: "en-US", formats: false, punctuation: false, masksProfanity: false };
const on = { ...off, formats: true, punctuation: true };

function recognitionOf(texts: readonly string[], isFinal = true): Recognition {
  const alternatives = texts.map((text) => ({ text, words: spokenText(text) }));
  return { isFinal, alternatives, audioEndMs: 1_000 };
}

test("a result is as it was recognized when nothing is requested", () => {
  const recognition = recognitionOf(["i paid five dollars"]);
  assert.deepEqual(new ResultWriter(off).write(recognition), recognition);
});

test("words are written with their times and the words that were spoken", () => {
  const { alternatives } = new ResultWriter(on).write(recognitionOf(["i paid five dollars"]));
  assert.deepEqual(alternatives, [
    {
      text: "I paid $5.",
      words: [
        { text: "I", startMs: 0, endMs: 300 },
        { text: "paid", startMs: 350, endMs: 650 },
        { text: "$5.", startMs: 700, endMs: 1_350, spoken: "five dollars" },
      ],
    },
  ]);
});

test("alternatives that are written the same are one", () => {
  const texts = ["half past three", "three thirty p m", "half past three"];
  const { alternatives } = new ResultWriter(on).write(recognitionOf(texts));
  assert.deepEqual(
    alternatives.map(({ text }) => text),
    ["3:30.", "3:30 p.m."],
  );
});

test("words without times share the time since the previous final result, and are marked", () => {
  const writer = new ResultWriter(on);
  const result = (text: string, audioEndMs: number, isFinal = true): Recognition => {
    return { isFinal, alternatives: [{ text, words: [] }], audioEndMs };
  };
  writer.write(result("yes", 400));
  const estimatedTimes = true;
  assert.deepEqual(writer.write(result("is it", 800, false)).alternatives[0]?.words, [
    { text: "Is", startMs: 400, endMs: 600, estimatedTimes },
    { text: "it", startMs: 600, endMs: 800, estimatedTimes },
  ]);
  const { alternatives } = writer.write(result("is it twenty percent", 2_100));
  assert.deepEqual(alternatives, [
    {
      text: "Is it 20%?",
      words: [
        { text: "Is", startMs: 400, endMs: 600, estimatedTimes },
        { text: "it", startMs: 600, endMs: 800, estimatedTimes },
        { text: "20%?", startMs: 800, endMs: 2_100, spoken: "twenty percent", estimatedTimes },
      ],
    },
  ]);
  const plain = new ResultWriter(off).write(result("is it", 400));
  assert.deepEqual(plain.alternatives[0]?.words, [
    { text: "is", startMs: 0, endMs: 200, estimatedTimes },
    { text: "it", startMs: 200, endMs: 400, estimatedTimes },
  ]);
});

test("a sentence continues in the next result, in its alternatives too", () => {
  const writer = new ResultWriter(on);
  writer.write(recognitionOf(["i came and"]));
  const { alternatives } = writer.write(recognitionOf(["they left", "we left"]));
  assert.deepEqual(
    alternatives.map(({ text }) => text),
    ["they left.", "we left."],
  );
});

test("an interim result has no mark after its last word, and events stay as they are", () => {
  const writer = new ResultWriter(on);
  const { alternatives } = writer.write(recognitionOf(["it is ten"], false));
  assert.equal(alternatives[0]?.text, "It is 10");
  const event = { isFinal: false, alternatives: [], audioEndMs: 5, speechEvent: "start" } as const;
  assert.equal(writer.write(event), event);
});
