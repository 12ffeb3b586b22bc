import assert from "node:assert/strict";
import { test } from "node:test";
import { wordErrors, wordsOf } from "./word-errors.ts";

test("wordErrors() counts replaced, missing and inserted words", () => {
  const rows: [said: string, recognized: string, errors: number][] = [
    ["", "", 0],
    ["go forward", "go forward", 0],
    ["go forward", "", 2],
    ["", "go forward", 2],
    ["go forward ten meters", "go for ten meters", 1],
    ["go forward ten meters", "go for word ten meters", 2],
    ["a b c d", "b c d", 1],
    ["a b c d", "x a b c d", 1],
    ["a b c", "c b a", 2],
  ];
  for (const [said, recognized, errors] of rows) {
    assert.equal(
      wordErrors(said.split(" ").filter(Boolean), wordsOf(recognized)),
      errors,
      recognized,
    );
  }
});

test("wordsOf() returns lower-case words without punctuation", () => {
  assert.deepEqual(wordsOf("  It's nine o'clock, Þór! "), ["its", "nine", "oclock", "þór"]);
});
