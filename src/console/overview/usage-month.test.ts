import assert from "node:assert/strict";
import { test } from "node:test";
import { monthOf } from "./usage-month.ts";

const day = (date: string, seconds: number, requests = 10) => ({
  date,
  // Those of pages of the console are in the sum that the service reports.
  requests: String(requests + 3),
  consoleRequests: "3",
  liveSeconds: seconds,
  shortSeconds: 1,
  jobSeconds: 2 * seconds,
});

test("monthOf() adds up the days of the current month, in UTC, and lists every day of it", () => {
  const days = [day("2026-11-22", 100), day("2026-11-01", 10, 5), day("2026-10-31", 1000)];
  const month = monthOf(days, new Date("2026-11-30T23:59:59Z"));
  assert.deepEqual([month.year, month.month, month.days.length], [2026, 10, 30]);
  assert.deepEqual(month.seconds, { all: 332, live: 110, short: 2, jobs: 220 });
  assert.equal(month.requests, 15);
  assert.deepEqual(month.days[0], { day: 1, requests: 5, seconds: 31 });
  assert.deepEqual(month.days[21], { day: 22, requests: 10, seconds: 301 });
  assert.deepEqual(month.days[29], { day: 30, requests: 0, seconds: 0 });
});

test("monthOf() returns only zeros at the start of a month, including in leap years and January", () => {
  assert.equal(monthOf([], new Date("2028-02-29T12:00:00Z")).days.length, 29);
  const january = monthOf([day("2026-12-31", 5)], new Date("2027-01-01T00:00:00Z"));
  assert.deepEqual([january.requests, january.seconds.all, january.days.length], [0, 0, 31]);
});
