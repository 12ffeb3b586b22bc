import assert from "node:assert/strict";
import { test } from "node:test";
import { inTurn } from "./in-turn.ts";

test("inTurn() runs so many at a time, in the order in which they came", async () => {
  const turn = inTurn(2);
  const begun: number[] = [];
  const gates = [1, 2, 3, 4].map(() => Promise.withResolvers<void>());
  const { signal } = new AbortController();
  const all = gates.map((gate, index) =>
    turn(signal, async () => {
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

test("inTurn() lets the next one in where one gives up, waiting or running", async () => {
  const turn = inTurn(1);
  const gate = Promise.withResolvers<void>();
  const gone = new AbortController();
  const { signal } = new AbortController();
  const first = turn(signal, () => gate.promise);
  const second = turn(gone.signal, () => Promise.resolve("never"));
  const third = turn(signal, () => Promise.resolve("third"));
  gone.abort(new Error("given up"));
  await assert.rejects(second, /given up/);
  gate.reject(new Error("failed"));
  await assert.rejects(first, /failed/);
  assert.equal(await third, "third");
});
