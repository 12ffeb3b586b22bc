import assert from "node:assert/strict";
import { test } from "node:test";
import { csvOf, isNone, monthsOf, noUse, restOf, sumOf, useOf } from "./use.ts";

const use = (requests: number, seconds = 0) => ({ ...noUse, requests, jobSeconds: seconds });

test("useOf() keeps the calls of the console apart", () => {
  const json = { requests: "12", consoleRequests: "5", liveSeconds: 3 };
  assert.deepEqual(useOf(json), { ...noUse, requests: 7, console: 5, liveSeconds: 3 });
  assert.ok(isNone(useOf({})));
  assert.ok(!isNone(useOf({ requests: "1", consoleRequests: "1" })));
});

test("monthsOf() adds up the days of each month, newest first", () => {
  const days = [
    { name: "2026-11-02", use: use(1, 10) },
    { name: "2026-12-01", use: use(2) },
    { name: "2026-11-30", use: use(4, 5) },
  ];
  assert.deepEqual(monthsOf(days), [
    { name: "2026-12", use: use(2) },
    { name: "2026-11", use: use(5, 15) },
  ]);
});

test("restOf() is what no key has used, and never less than nothing", () => {
  assert.deepEqual(restOf(use(10, 60), [use(3, 20), use(2, 50)]), use(5, 0));
  assert.deepEqual(sumOf([]), noUse);
});

test("csvOf() quotes names, and makes no formula of them", () => {
  const rows = ['Ritvél, "ný"', "=1+1", "-x", "venjulegt"].map((name) => ({ name, use: use(1) }));
  const names = csvOf("key", rows).split("\r\n");
  assert.deepEqual(names, [
    "key,requests,console_requests,live_seconds,short_seconds,job_seconds",
    '"Ritvél, ""ný""",1,0,0,0,0',
    "'=1+1,1,0,0,0,0",
    "'-x,1,0,0,0,0",
    "venjulegt,1,0,0,0,0",
    "",
  ]);
});
