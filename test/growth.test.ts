import assert from "node:assert/strict";
import { test } from "node:test";
import { assertLinear } from "./fixtures/growth.ts";

test("assertLinear() tells a square from a line", () => {
  const input = (size: number): number[] => Array.from({ length: size }, (_, at) => at);
  const square = (items: readonly number[]): void => {
    for (const item of items) assert.ok(!items.includes(-1 - item));
  };
  const line = (items: readonly number[]): void => {
    for (let times = 0; times < 4000; times++) assert.ok(!items.includes(-1));
  };
  // Small enough for the caches: how slow memory is, is not the point.
  assertLinear("line", 8000, { input, run: line });
  assert.throws(() => {
    assertLinear("square", 4500, { input, run: square });
  }, /square: .* of eight times as much/);
});
