import assert from "node:assert/strict";
import { test } from "node:test";
import { type Expiry, expireTimeOf, today } from "./expiry.ts";

test("expireTimeOf() counts days from now or returns the last second of a chosen day", () => {
  const now = new Date(2026, 10, 22, 12, 30);
  const rows: [expiry: Expiry, day: string, end: Date | "never" | "missing"][] = [
    ["never", "", "never"],
    ["30", "", new Date(now.getTime() + 30 * 86_400_000)],
    ["90", "2020-01-01", new Date(now.getTime() + 90 * 86_400_000)],
    ["year", "", new Date(2027, 10, 22, 12, 30)],
    ["date", "2027-03-01", new Date(2027, 2, 1, 23, 59, 59)],
    ["date", "2026-11-22", new Date(2026, 10, 22, 23, 59, 59)],
    ["date", "2026-11-21", "missing"],
    ["date", "", "missing"],
    ["date", "á morgun", "missing"],
  ];
  for (const [expiry, day, end] of rows) {
    const wanted = end instanceof Date ? { at: end.toISOString() } : end;
    assert.deepEqual(expireTimeOf(expiry, day, now), wanted, `${expiry} ${day}`);
  }
  assert.equal(today(new Date(2026, 0, 3)), "2026-01-03");
});
