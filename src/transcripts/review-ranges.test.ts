import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { joinRanges, subtractRanges, type Range } from "./review-ranges.ts";

const timeMax = 40;
const anyRange = fc
  .tuple(fc.integer({ min: 0, max: timeMax - 1 }), fc.integer({ min: 1, max: 12 }))
  .map(([start, length]): Range => ({ start, end: Math.min(timeMax, start + length) }));
const anyRanges = fc.array(anyRange, { maxLength: 12 });

const units = Array.from({ length: timeMax }, (_, at) => at);

/** Returns the units of time in the ranges, in order. */
function unitsOf(ranges: readonly Range[]): number[] {
  return units.filter((unit) => ranges.some(({ start, end }) => start <= unit && unit < end));
}

/** Checks that ranges are in order, not empty, and do not touch. */
function assertSeparate(ranges: readonly Range[]): void {
  let previousEnd = -1;
  for (const { start, end } of ranges) {
    assert.ok(start > previousEnd && end > start, JSON.stringify(ranges));
    previousEnd = end;
  }
}

test("joinRanges() keeps exactly the same times, in separate ranges", () => {
  fc.assert(
    fc.property(anyRanges, (ranges) => {
      const joined = joinRanges(ranges);
      assertSeparate(joined);
      assert.deepEqual(unitsOf(joined), unitsOf(ranges));
    }),
  );
});

test("subtractRanges() keeps exactly the times that are not removed", () => {
  fc.assert(
    fc.property(anyRanges, anyRanges, (ranges, removed) => {
      const joined = joinRanges(ranges);
      const left = subtractRanges(joined, removed);
      assertSeparate(left);
      const gone = new Set(unitsOf(removed));
      assert.deepEqual(
        unitsOf(left),
        unitsOf(ranges).filter((unit) => !gone.has(unit)),
      );
    }),
  );
});

for (const [what, ranges, removed, left] of [
  ["nothing", [[0, 5]], [], [[0, 5]]],
  [
    "the middle",
    [[0, 10]],
    [[3, 7]],
    [
      [0, 3],
      [7, 10],
    ],
  ],
  [
    "the start and the end",
    [[2, 10]],
    [
      [0, 3],
      [9, 12],
    ],
    [[3, 9]],
  ],
  [
    "everything",
    [
      [2, 4],
      [6, 8],
    ],
    [[2, 8]],
    [],
  ],
  [
    "a range that only touches",
    [[2, 4]],
    [
      [0, 2],
      [4, 6],
    ],
    [[2, 4]],
  ],
] as const) {
  test(`subtractRanges() removes ${what}`, () => {
    const rangesOf = (pairs: readonly (readonly [number, number])[]) =>
      pairs.map(([start, end]) => ({ start, end }));
    assert.deepEqual(subtractRanges(rangesOf(ranges), rangesOf(removed)), rangesOf(left));
  });
}
