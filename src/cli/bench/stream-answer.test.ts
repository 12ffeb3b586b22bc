import assert from "node:assert/strict";
import { test } from "node:test";
import { readStreamAnswer } from "./stream-answer.ts";

test("a result ends with its last word, unless the times are estimated", () => {
  const endOf = (word: object) => {
    const alternatives = [{ transcript: "it is", words: [{ endTime: "1s" }, word] }];
    const result = { results: [{ alternatives, isFinal: true }] };
    return readStreamAnswer(JSON.stringify({ result }))?.results[0]?.endMs;
  };
  assert.equal(endOf({ endTime: "1.250s" }), 1_250);
  assert.equal(endOf({ endTime: "1.250s", estimatedTimes: true }), undefined);
  assert.equal(endOf({}), undefined);
});
