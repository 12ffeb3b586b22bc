import assert from "node:assert/strict";
import { test } from "node:test";
import type { RecognitionMode } from "../protocol/engine.ts";
import { RunQueue, type Task } from "./run-queue.ts";

/**
 * Runs tasks with these numbers of slices, all woken at the same time. Returns the order of their
 * slices.
 */
async function order(tasks: readonly [name: string, mode: RecognitionMode, slices: number][]) {
  const queue = new RunQueue();
  const done: string[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  let left = tasks.reduce((sum, [, , slices]) => sum + slices, 0);
  for (const [name, mode, slices] of tasks) {
    let rest = slices;
    const task: Task = {
      busyMs: 0,
      step() {
        done.push(name);
        rest -= 1;
        left -= 1;
        if (left === 0) resolve();
        return rest > 0;
      },
    };
    queue.wake(mode, task);
    queue.wake(mode, task);
  }
  await promise;
  return done.join(" ");
}

test("RunQueue runs live tasks before short ones and short ones before jobs, and tasks of one mode in turns", async () => {
  const rows: [tasks: [string, RecognitionMode, number][], expected: string][] = [
    [
      [
        ["job", "job", 2],
        ["short", "short", 2],
        ["live", "live", 2],
      ],
      "live live short short job job",
    ],
    [
      [
        ["a", "live", 3],
        ["b", "live", 1],
        ["c", "live", 2],
      ],
      "a b c a c a",
    ],
  ];
  for (const [tasks, expected] of rows) assert.equal(await order(tasks), expected);
});

test("RunQueue runs live work that arrives during a job before the rest of the job", async () => {
  const queue = new RunQueue();
  const done: string[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  let slices = 50;
  queue.wake("job", {
    busyMs: 0,
    step() {
      const until = performance.now() + 3;
      while (performance.now() < until);
      done.push("job");
      slices -= 1;
      if (slices === 0) resolve();
      return slices > 0;
    },
  });
  const timer = setInterval(() => {
    const cameAt = done.length;
    queue.wake("live", {
      busyMs: 0,
      step() {
        // At most one turn of the job runs first.
        done.push(done.length - cameAt <= 5 ? "live" : "late");
        return false;
      },
    });
  }, 5);
  await promise;
  clearInterval(timer);
  assert.ok(done.includes("live"));
  assert.ok(!done.includes("late"), done.join(" "));
});

test("RunQueue drops a removed task, and can wake a task again after its last slice", async () => {
  const queue = new RunQueue();
  const gone: Task = { busyMs: 0, step: () => assert.fail("it was removed") };
  queue.wake("live", gone);
  queue.remove(gone);
  for (let round = 0; round < 2; round++) {
    let steps = 0;
    const { promise, resolve } = Promise.withResolvers<void>();
    queue.wake("live", {
      busyMs: 0,
      step() {
        steps += 1;
        resolve();
        return false;
      },
    });
    await promise;
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(steps, 1);
  }
});

test("RunQueue gives lower-priority modes a small share while higher ones always have work", async () => {
  const queue = new RunQueue();
  const { promise, resolve } = Promise.withResolvers<void>();
  const spin = (ms: number) => {
    const until = performance.now() + ms;
    while (performance.now() < until);
  };
  const start = performance.now();
  const slices = { live: 0, short: 0, job: 0 };
  const tasks = { live: endless("live", 3), short: endless("short", 3), job: endless("job", 20) };
  function endless(mode: RecognitionMode, ms: number): Task {
    return {
      busyMs: 0,
      step() {
        slices[mode] += 1;
        spin(ms);
        if (performance.now() < start + 1800) return true;
        resolve();
        return false;
      },
    };
  }
  for (const mode of ["job", "short", "live"] as const) queue.wake(mode, tasks[mode]);
  await promise;
  const share = (mode: RecognitionMode) => tasks[mode].busyMs / (performance.now() - start);
  assert.ok(slices.short >= 3 && slices.job >= 2, JSON.stringify(slices));
  assert.ok(share("short") < 0.1 && share("job") < 0.1, `${share("short")} ${share("job")}`);
});

test("RunQueue reports how long live work waited, not how long it took", async () => {
  const queue = new RunQueue();
  const { promise, resolve } = Promise.withResolvers<void>();
  let rest = 3;
  const start = performance.now();
  let secondMs = 0;
  queue.wake("live", {
    busyMs: 0,
    step() {
      const until = performance.now() + 30;
      while (performance.now() < until);
      rest -= 1;
      return rest > 0;
    },
  });
  const second: Task = {
    busyMs: 0,
    step() {
      secondMs = performance.now() - start;
      resolve();
      return false;
    },
  };
  queue.wake("live", second);
  await promise;
  const { count, totalMs } = queue.takeLiveWaits();
  // The second task waited for the first slice of the first task.
  assert.equal(count, 2);
  assert.ok(secondMs >= 30 && totalMs >= 0.9 * secondMs, `${totalMs} of ${secondMs} ms`);
  assert.ok(totalMs <= 2 * secondMs, `${totalMs} of ${secondMs} ms`);
  assert.deepEqual(queue.takeLiveWaits(), { count: 0, totalMs: 0 });
});

test("RunQueue schedules a task at the rank that the task requests", async () => {
  const queue = new RunQueue();
  const done: string[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  const add = (name: string, mode: RecognitionMode, ranks: readonly RecognitionMode[]) => {
    let turns = 0;
    const task: Task = {
      busyMs: 0,
      rank: () => ranks[turns] ?? mode,
      step() {
        done.push(name);
        turns += 1;
        if (done.length === 9) resolve();
        return turns < ranks.length;
      },
    };
    queue.wake(mode, task);
  };
  add("a", "live", ["live", "short", "live"]);
  add("b", "live", ["live", "live", "live"]);
  add("c", "live", ["job"]);
  add("d", "short", ["short", "short"]);
  await promise;
  assert.equal(done.join(" "), "a b b b d a a d c");
});

test("RunQueue finds a waiting task even if its rank has changed", async () => {
  const queue = new RunQueue();
  const done: string[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  let rank: RecognitionMode = "live";
  const taskOf = (name: string): Task => ({
    busyMs: 0,
    rank: () => rank,
    step() {
      done.push(name);
      return false;
    },
  });
  const [once, gone] = [taskOf("once"), taskOf("gone")];
  queue.wake("live", once);
  queue.wake("live", gone);
  rank = "short";
  queue.wake("live", once);
  queue.remove(gone);
  queue.wake("job", {
    busyMs: 0,
    step() {
      resolve();
      return false;
    },
  });
  await promise;
  assert.deepEqual(done, ["once"]);
});
