import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { runs } from "../../../../../test/fixtures/property-runs.ts";
import { atOnce } from "../../../../std/at-once.ts";
import { jsonSteps } from "./json-steps.ts";

test("jsonSteps() parses what JSON.parse() does, with a list anywhere in the object", () => {
  const value = fc.jsonValue({ maxDepth: 3 });
  const object = fc.dictionary(
    fc.oneof(fc.constantFrom("words", '"words":[', "\\"), fc.string()),
    fc.oneof(value, fc.array(value)),
  );
  const space = fc.constantFrom(undefined, 1, "\t", "\r\n ");
  fc.assert(
    fc.property(object, fc.array(value), space, (drawn, words, space) => {
      for (const each of [drawn, { ...drawn, words }, { words, ...drawn }]) {
        const text = JSON.stringify(each, undefined, space);
        assert.deepEqual(atOnce(jsonSteps(text, "words")), JSON.parse(text));
      }
    }),
    { numRuns: runs(500) },
  );
});

test("jsonSteps() yields after each item of the list", () => {
  const text = JSON.stringify({ id: "a", words: [1, "b", { c: ["]"] }, [], null] });
  assert.equal([...jsonSteps(text, "words")].length, 5);
});

test("jsonSteps() refuses JSON that ends early", () => {
  const text = JSON.stringify({ id: "a", words: [{ a: "b" }, { c: ["d"] }], e: 1 });
  for (let length = 0; length < text.length; length += 1) {
    assert.throws(() => atOnce(jsonSteps(text.slice(0, length), "words")), SyntaxError);
  }
});
