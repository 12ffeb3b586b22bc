import assert from "node:assert/strict";
import { test } from "node:test";
import { extended, rangeAround, rangeWith } from "./shown-cues.ts";

test("the cues that are rendered move only if the current one comes close to an end", () => {
  const range = rangeAround(100, 1_000);
  assert.deepEqual(range, { first: 70, end: 150 });
  assert.equal(rangeWith(range, 74, 1_000), range);
  assert.equal(rangeWith(range, 145, 1_000), range);
  assert.deepEqual(rangeWith(range, 73, 1_000), { first: 43, end: 123 });
  assert.deepEqual(rangeWith(range, 146, 1_000), { first: 116, end: 196 });
  assert.deepEqual(rangeWith(range, 900, 1_000), { first: 870, end: 950 });
  // Nothing is before the first or after the last one.
  assert.deepEqual(rangeAround(5, 20), { first: 0, end: 20 });
  const whole = { first: 0, end: 20 };
  for (const at of [0, 19]) assert.equal(rangeWith(whole, at, 20), whole);
});

test("more cues are added at an end until there are none", () => {
  const range = { first: 70, end: 150 };
  assert.deepEqual(extended(range, -1, 1_000), { first: 30, end: 150 });
  assert.deepEqual(extended(range, 1, 1_000), { first: 70, end: 190 });
  assert.deepEqual(extended(range, 1, 160), { first: 70, end: 160 });
  assert.equal(extended(range, 1, 150), range);
  assert.deepEqual(extended({ first: 10, end: 50 }, -1, 50), { first: 0, end: 50 });
});
