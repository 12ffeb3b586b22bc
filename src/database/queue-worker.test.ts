import assert from "node:assert/strict";
import { test } from "node:test";
import { openKeptLog } from "../../test/fixtures/kept-log.ts";
import { until } from "../../test/fixtures/until.ts";
import { QueueWorker, type QueueWorkerOptions } from "./queue-worker.ts";

/** Work that a test ends. */
class HeldWork {
  readonly running = new Map<number, PromiseWithResolvers<void>>();
  readonly started: number[] = [];
  most = 0;

  readonly work = async (row: number, stopped: AbortSignal): Promise<void> => {
    const held = Promise.withResolvers<void>();
    stopped.addEventListener("abort", () => held.reject(stopped.reason));
    this.started.push(row);
    this.running.set(row, held);
    this.most = Math.max(this.most, this.running.size);
    await held.promise.finally(() => this.running.delete(row));
  };
}

function openQueue(rows: number[], more: Partial<QueueWorkerOptions<number>> = {}) {
  const held = new HeldWork();
  const lost: [row: number, message: string][] = [];
  const { log, of } = openKeptLog();
  const rooms: number[] = [];
  const worker = new QueueWorker<number>({
    runningMax: 2,
    pollMs: 5,
    lease(room) {
      rooms.push(room);
      return Promise.resolve(rows.splice(0, room));
    },
    leaseFailed: "test.lease_failed",
    work: held.work,
    onLost: (row, error) => lost.push([row, error instanceof Error ? error.message : ""]),
    stopMsMax: 60_000,
    steps: [],
    log,
    ...more,
  });
  return { held, worker, lost, rooms, of };
}

const met = async (holds: () => boolean) => await until(() => Promise.resolve(holds()));

test("rows are started as others end, never more than there is room for, and a lost one is reported", async () => {
  const rows = [1, 2, 3];
  const { held, worker, lost, rooms } = openQueue(rows);
  await met(() => held.running.size === 2);
  assert.deepEqual(held.started, [1, 2]);
  held.running.get(1)?.resolve();
  await met(() => held.running.has(3));
  held.running.get(2)?.reject(new Error("the receiver is gone"));
  held.running.get(3)?.resolve();
  await met(() => held.running.size === 0);
  // It goes on after a failure.
  rows.push(4);
  await met(() => held.running.has(4));
  held.running.get(4)?.resolve();
  await worker[Symbol.asyncDispose]();
  assert.deepEqual(lost, [[2, "the receiver is gone"]]);
  assert.equal(held.most, 2);
  assert.ok(
    rooms.every((room) => room >= 1 && room <= 2),
    rooms.join(),
  );
});

test("a lease that fails is logged and repeated, and so is a step", async () => {
  let failures = 0;
  let runs = 0;
  const fail = () => {
    failures += 1;
    return failures < 3 ? Promise.reject(new Error("no connection")) : Promise.resolve([]);
  };
  const act = () => {
    runs += 1;
    return runs < 3 ? Promise.reject(new Error("no connection")) : Promise.resolve();
  };
  const step = { everyMs: 1, event: "test.step_failed", act };
  const { worker, of } = openQueue([], { lease: fail, steps: [step] });
  await met(() => failures > 3 && runs > 3);
  await worker[Symbol.asyncDispose]();
  assert.equal(of("test.lease_failed").length, 2);
  assert.equal(of("test.step_failed").length, 2);
});

test("a worker that stops leases nothing more, lets its rows end, and aborts those that take too long", async () => {
  for (const [stopMsMax, isAborted] of [
    [60_000, false],
    [1, true],
  ] as const) {
    const rows = [1];
    const { held, worker, lost } = openQueue(rows, { stopMsMax });
    await met(() => held.running.has(1));
    const closed = worker[Symbol.asyncDispose]();
    rows.push(2);
    if (!isAborted) held.running.get(1)?.resolve();
    await closed;
    assert.deepEqual(lost, isAborted ? [[1, "the worker stops"]] : []);
    assert.deepEqual([held.started, rows], [[1], [2]]);
  }
});
