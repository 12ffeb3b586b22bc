import assert from "node:assert/strict";
import { test } from "node:test";
import { assertLinear } from "./fixtures/growth.ts";

test("assertLinear() accepts linear time and refuses quadratic time, unless the platform needs it", () => {
  const input = (size: number): number[] => Array.from({ length: size }, (_, at) => at);
  const square = (items: readonly number[]): void => {
    for (const item of items) assert.ok(!items.includes(-1 - item));
  };
  const line = (items: readonly number[]): void => {
    for (let times = 0; times < 400; times++) assert.ok(!items.includes(-1));
  };
  // The input is small enough for the caches, since the speed of memory is not under test.
  assertLinear("line", 8000, { input, run: line });
  assert.throws(() => {
    assertLinear("square", 500, { input, run: square });
  }, /square: .* of eight times as much/);
  // A linear baseline does not raise the limit; any other baseline raises the limit in proportion
  // to its own growth.
  assert.throws(() => {
    assertLinear("square", 500, { input, run: square, baseline: line });
  }, /square: .* of eight times as much/);
  assertLinear("square", 500, { input, run: square, baseline: square });
});
