import assert from "node:assert/strict";
import { test } from "node:test";
import { drainStreams } from "./drain-streams.ts";

const never = new Promise<never>(() => {});
const { signal: calm } = new AbortController();

test("drainStreams() returns as soon as nothing is open, and ends no stream", async () => {
  const streams = () => assert.fail("asked for the streams");
  await drainStreams(Promise.resolve(), streams, { msMax: 3_600_000, hurried: calm });
});

test("drainStreams() returns as soon as it is hurried, and ends no stream", async () => {
  const hurry = new AbortController();
  const streams = () => assert.fail("asked for the streams");
  const drained = drainStreams(never, streams, { msMax: 3_600_000, hurried: hurry.signal });
  hurry.abort();
  await drained;
});

test("drainStreams() ends the streams that are left evenly over the last third of the time", async () => {
  const began = performance.now();
  const endedAfterMs: number[] = [];
  const ends = Array.from({ length: 4 }, () => () => {
    endedAfterMs.push(performance.now() - began);
  });
  await drainStreams(never, () => ends, { msMax: 240, hurried: calm });
  assert.equal(endedAfterMs.length, 4);
  // Timers may be late on a busy machine, and never more than a millisecond early.
  for (const [at, earliestMs] of [160, 180, 200, 220].entries()) {
    assert.ok((endedAfterMs[at] ?? 0) >= earliestMs - 5, endedAfterMs.join(" "));
  }
  assert.ok(performance.now() - began >= 235, "the time is used to its end");
});

test("drainStreams() ends no further stream after it is hurried", async () => {
  const hurry = new AbortController();
  let ended = 0;
  const end = () => {
    ended += 1;
    hurry.abort();
  };
  await drainStreams(never, () => [end, end, end], { msMax: 30, hurried: hurry.signal });
  assert.equal(ended, 1);
});
