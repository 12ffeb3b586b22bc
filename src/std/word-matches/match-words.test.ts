import assert from "node:assert/strict";
import { test } from "node:test";
import { matchWordsSteps } from "./match-words.ts";

/** The number of times that a comparison yields, and of the pairs that it finds. */
function stepsOf(before: Int32Array, after: Int32Array): { steps: number; pairs: number } {
  const work = matchWordsSteps(before, after);
  for (let steps = 0; ; steps += 1) {
    const { done, value } = work.next();
    if (done === true) return { steps, pairs: value.before.length };
  }
}

test("long equal stretches before and after a change are matched in several steps", () => {
  const words = Int32Array.from({ length: 100_000 }, (_, at) => at);
  for (const at of [0, 50_000, 99_999]) {
    const { steps, pairs } = stepsOf(words, words.with(at, -1));
    assert.equal(pairs, words.length - 1, `the word ${at} is changed`);
    assert.ok(steps >= 20, `the word ${at} is changed: ${steps} steps`);
  }
});
