import assert from "node:assert/strict";
import { test } from "node:test";
import { secondsLeft } from "./time-left.ts";

test("secondsLeft() continues at the speed that was seen, and says nothing without one", () => {
  const first = { percent: 10, atMs: 5_000 };
  const rows: [percent: number, atMs: number, seconds: number | undefined][] = [
    [60, 30_000, 20],
    [12, 6_000, 44],
    [11, 6_000, undefined],
    [10, 6_000, undefined],
    [100, 50_000, undefined],
    [40, 5_000, undefined],
    [5, 9_000, undefined],
  ];
  for (const [percent, atMs, seconds] of rows) {
    assert.equal(secondsLeft(first, { percent, atMs }), seconds, `${percent} at ${atMs}`);
  }
});
