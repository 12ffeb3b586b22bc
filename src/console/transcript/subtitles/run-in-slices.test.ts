import assert from "node:assert/strict";
import { test } from "node:test";
import { runInSlices } from "./run-in-slices.ts";

function* count(steps: number, onStep: (step: number) => void): Generator<void, string, void> {
  for (let step = 0; step < steps; step += 1) {
    const until = performance.now() + 1;
    while (performance.now() < until) onStep(step);
    yield;
  }
  return "done";
}

test("runInSlices() lets other tasks run while it works, and returns the result", async () => {
  let [last, seen] = [0, 0];
  const timer = setInterval(() => {
    if (last > 0 && last < 59) seen += 1;
  }, 1);
  const { signal } = new AbortController();
  assert.equal(
    await runInSlices(
      count(60, (step) => (last = step)),
      signal,
    ),
    "done",
  );
  clearInterval(timer);
  assert.equal(last, 59);
  assert.ok(seen >= 2, `${seen}`);
});

test("runInSlices() stops when its signal aborts", async () => {
  const stopping = new AbortController();
  let last = 0;
  const work = count(10_000, (step) => {
    last = step;
    if (step === 30) stopping.abort();
  });
  assert.equal(await runInSlices(work, stopping.signal), undefined);
  assert.ok(last < 100, `${last}`);
});
