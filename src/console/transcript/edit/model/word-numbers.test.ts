import assert from "node:assert/strict";
import { test } from "node:test";
import { WordNumbers } from "./word-numbers.ts";

test("equal words have equal numbers, also among many that begin with the same", () => {
  const numbers = new WordNumbers();
  const words = Array.from({ length: 20_000 }, (_, at) => `1234567890.123s ${at % 15_000}`);
  const given = words.map((word) => numbers.of(word));
  assert.deepEqual(
    given,
    words.map((_, at) => at % 15_000),
  );
  assert.equal(numbers.size, 15_000);
  assert.equal(numbers.of(""), 15_000);
  assert.equal(numbers.of(""), 15_000);
});
