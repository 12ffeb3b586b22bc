import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Schedule } from "./schedule.ts";

test("Schedule runs the steps in the order of their times, and never early", async () => {
  const delays = fc.array(fc.integer({ min: -5, max: 30 }), { minLength: 1, maxLength: 200 });
  await fc.assert(
    fc.asyncProperty(delays, async (list) => {
      using schedule = new Schedule();
      const from = performance.now();
      const ran: number[] = [];
      await new Promise<void>((resolve) => {
        for (const delay of list) {
          schedule.at(from + delay, (dueMs) => {
            assert.ok(performance.now() >= dueMs);
            assert.equal(dueMs, from + delay);
            ran.push(dueMs);
            if (ran.length === list.length) resolve();
          });
        }
      });
      assert.deepEqual(
        ran,
        ran.toSorted((a, b) => a - b),
      );
    }),
    { numRuns: 20 },
  );
});

test("Schedule does not drift if a step is late", async () => {
  using schedule = new Schedule();
  const from = performance.now();
  const dues: number[] = [];
  await new Promise<void>((resolve) => {
    const step = (dueMs: number): void => {
      dues.push(dueMs - from);
      // Keeps the thread busy until after the time of the next step.
      if (dues.length === 2) while (performance.now() < dueMs + 12);
      if (dues.length === 10) resolve();
      else schedule.at(dueMs + 5, step);
    };
    schedule.at(from + 5, step);
  });
  for (const [at, due] of dues.entries()) assert.ok(Math.abs(due - 5 * (at + 1)) < 1e-6);
});

test("Schedule runs a new step that is due first, and runs nothing after it is disposed of", async () => {
  const schedule = new Schedule();
  const ran: string[] = [];
  schedule.at(performance.now() + 60_000, () => ran.push("late"));
  await new Promise<void>((resolve) => {
    schedule.at(performance.now() + 1, () => {
      ran.push("soon");
      resolve();
    });
  });
  schedule.at(performance.now() + 5, () => ran.push("never"));
  schedule[Symbol.dispose]();
  await new Promise((resolve) => {
    setTimeout(resolve, 20);
  });
  assert.deepEqual(ran, ["soon"]);
});
