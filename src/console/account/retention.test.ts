import assert from "node:assert/strict";
import { test } from "node:test";
import { daysOf, isShorter, retentionOf } from "./retention.ts";

test("retentionOf() chooses a known time, or keeps the days of another one", () => {
  assert.deepEqual(retentionOf(0), { keep: "0", days: "" });
  assert.deepEqual(retentionOf(30), { keep: "30", days: "" });
  assert.deepEqual(retentionOf(45), { keep: "other", days: "45" });
  for (const days of [0, 1, 7, 45, 36_500]) assert.equal(daysOf(retentionOf(days)), days);
});

test("daysOf() accepts 1 to 36,500 days", () => {
  for (const days of ["", "0", "-1", "1,5", "36501", "dag", "999999"]) {
    assert.equal(daysOf({ keep: "other", days }), undefined, days);
  }
  assert.equal(daysOf({ keep: "other", days: " 14 " }), 14);
});

test("isShorter() is true only if something would be deleted earlier", () => {
  const rows: [next: number, before: number, expected: boolean][] = [
    [0, 0, false],
    [0, 30, false],
    [30, 0, true],
    [7, 30, true],
    [30, 30, false],
    [90, 30, false],
  ];
  for (const [next, before, expected] of rows) assert.equal(isShorter(next, before), expected);
});
