import assert from "node:assert/strict";
import { test } from "node:test";
import { absenceWaitMs } from "./absence-wait.ts";

const hourMs = 3_600_000;

test("a job asks for an absent engine seldom for an hour, and soon after a short absence", () => {
  const askedMs: number[] = [];
  for (let nowMs = 0; nowMs < hourMs; nowMs += absenceWaitMs(nowMs)) askedMs.push(nowMs);
  assert.ok(askedMs.length < 90, `${askedMs.length} attempts`);
  // Whenever the server returns, the job waits at most a quarter of its absence longer, or 2 s.
  for (const [at, nowMs] of askedMs.entries()) {
    const waitMs = (askedMs[at + 1] ?? hourMs) - nowMs;
    assert.ok(waitMs <= Math.min(60_000, Math.max(2000, nowMs / 4)), `${waitMs} after ${nowMs}`);
  }
  assert.equal(absenceWaitMs(24 * hourMs), 60_000);
});
