import assert from "node:assert/strict";
import { test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { Arrivals } from "./arrivals.ts";

setFlagsFromString("--expose-gc");
const collect: unknown = runInNewContext("gc");

function heapBytes(): number {
  assert.ok(typeof collect === "function");
  collect();
  return process.memoryUsage().heapUsed;
}

test("`Arrivals` ends a wait in progress, and a wait that begins just afterwards", async () => {
  const arrivals = new Arrivals();
  const { signal } = new AbortController();
  const waiting = [arrivals.next(60_000, signal), arrivals.next(60_000, signal)];
  arrivals.announce();
  await Promise.all(waiting);
  arrivals.announce();
  await arrivals.next(60_000, signal);
});

test("`Arrivals` ends a wait when its signal aborts", async () => {
  const stopping = new AbortController();
  const waiting = new Arrivals().next(60_000, stopping.signal);
  stopping.abort(new Error("it stops"));
  await assert.rejects(waiting, /it stops/);
});

test("waits without an arrival leave nothing in memory", async () => {
  const arrivals = new Arrivals();
  const { signal } = new AbortController();
  const wait = async (): Promise<void> => {
    const waits = Array.from({ length: 500 }, async () => await arrivals.next(1, signal));
    await Promise.all(waits);
  };
  await wait();
  const before = heapBytes();
  // As many waits as occur in seven hours.
  for (let i = 0; i < 100; i++) await wait();
  const grownBytes = heapBytes() - before;
  assert.ok(grownBytes < 10_000_000, `${grownBytes} bytes`);
});
