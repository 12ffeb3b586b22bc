import assert from "node:assert/strict";
import { test } from "node:test";
import { limitConcurrency } from "./limit-concurrency.ts";

test("limitConcurrency() runs at most `max` tasks concurrently, in order", async () => {
  const run = limitConcurrency(2);
  const begun: number[] = [];
  const gates = [1, 2, 3, 4].map(() => Promise.withResolvers<void>());
  const { signal } = new AbortController();
  const all = gates.map((gate, index) =>
    run(signal, async () => {
      begun.push(index);
      await gate.promise;
      return index;
    }),
  );
  assert.deepEqual(begun, [0, 1]);
  gates[1]?.resolve();
  await all[1];
  await new Promise(setImmediate);
  assert.deepEqual(begun, [0, 1, 2]);
  for (const gate of gates) gate.resolve();
  assert.deepEqual(await Promise.all(all), [0, 1, 2, 3]);
});

test("limitConcurrency() starts the next task when one is aborted or fails", async () => {
  const run = limitConcurrency(1);
  const gate = Promise.withResolvers<void>();
  const gone = new AbortController();
  const { signal } = new AbortController();
  const first = run(signal, () => gate.promise);
  const second = run(gone.signal, () => Promise.resolve("never"));
  const third = run(signal, () => Promise.resolve("third"));
  gone.abort(new Error("aborted"));
  await assert.rejects(second, /aborted/);
  gate.reject(new Error("failed"));
  await assert.rejects(first, /failed/);
  assert.equal(await third, "third");
});
