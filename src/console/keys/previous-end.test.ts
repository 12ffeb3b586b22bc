import assert from "node:assert/strict";
import { test } from "node:test";
import { lastDay, previousEndOf } from "./previous-end.ts";
import { today } from "./expiry.ts";

const now = new Date("2026-11-28T12:00:00Z");

test("previousEndOf() returns the time at which the previous secret ends", () => {
  assert.equal(previousEndOf("now", "", now), undefined);
  assert.equal(previousEndOf("3600", "", now), "2026-11-28T13:00:00.000Z");
  assert.equal(previousEndOf("604800", "", now), "2026-12-05T12:00:00.000Z");
  const end = new Date(2026, 11, 1, 23, 59, 59).toISOString();
  assert.equal(previousEndOf("date", "2026-12-01", now), end);
});

test("previousEndOf() refuses days that are missing, over or more than 90 days ahead", () => {
  for (const day of ["", "2026-11-27", "2027-02-28", "tomorrow"]) {
    assert.equal(previousEndOf("date", day, now), "missing", day);
  }
  assert.notEqual(previousEndOf("date", today(lastDay(now)), now), "missing");
});
