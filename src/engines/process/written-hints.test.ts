import assert from "node:assert/strict";
import { test } from "node:test";
import type { Hypothesis } from "../protocol/engine.ts";
import { WrittenHints } from "./written-hints.ts";

const reading = (text: string): Hypothesis => ({
  text,
  words: text.split(" ").map((word, index) => ({
    text: word,
    startMs: 100 * index,
    endMs: 100 * index + 90,
  })),
});

function written(text: string, phrases: readonly string[]): Hypothesis {
  const hints = new WrittenHints(phrases.map((phrase) => ({ phrase, boost: 10 })));
  const [found] = hints.write([reading(text)]);
  assert.ok(found);
  return found;
}

test("WrittenHints writes phrases with the capitals of the hints, and no other words", () => {
  const rows: [text: string, phrases: readonly string[], expected: string][] = [
    ["i met guðrún today", ["Guðrún"], "i met Guðrún today"],
    ["will smith will come", ["Will Smith"], "Will Smith will come"],
    ["will smith will", ["Will", "will Smith"], "will Smith Will"],
    ["new york new jersey", ["New York", "New"], "New York New jersey"],
    ["call o'rourke at mi6", ["O’Rourke", "MI6"], "call O’Rourke at MI6"],
    ["smith jones", ["Smith-Jones"], "Smith Jones"],
    ["Anna, anna.", ["ANNA"], "ANNA, ANNA."],
    ["Anna came", ["anna"], "Anna came"],
    ["guðrúnar guð rún", ["Guðrún"], "guðrúnar guð rún"],
    ["the $& sign", ["The $& SIGN"], "the $& sign"],
    ["new", ["New York"], "new"],
  ];
  for (const [text, phrases, expected] of rows) {
    const found = written(text, phrases);
    assert.equal(found.text, expected);
    assert.equal(found.words.map((word) => word.text).join(" "), expected);
    assert.deepEqual(
      found.words.map(({ startMs }) => startMs),
      reading(text).words.map(({ startMs }) => startMs),
    );
  }
});

test("WrittenHints keeps readings distinct, and readings without words", () => {
  const hints = new WrittenHints([{ phrase: "Anna", boost: 10 }]);
  const bare = { text: "anna", words: [] };
  assert.deepEqual(hints.write([bare]), [{ text: "Anna", words: [] }]);
  const same = hints.write([reading("anna came"), reading("Anna came"), reading("come anna")]);
  assert.deepEqual(
    same.map(({ text }) => text),
    ["Anna came", "come Anna"],
  );
});
