import assert from "node:assert/strict";
import { test } from "node:test";
import { Slots } from "./slots.ts";

test("`Slots` lets so many in at a time, in the order in which they came", async () => {
  const slots = new Slots(2);
  const { signal } = new AbortController();
  const order: number[] = [];
  const first = await slots.take(signal);
  const second = await slots.take(signal);
  const waiting = [3, 4].map(async (number) => {
    const giveBack = await slots.take(signal);
    order.push(number);
    return giveBack;
  });
  await new Promise(setImmediate);
  assert.deepEqual(order, []);
  second();
  second();
  const third = await waiting[0];
  assert.deepEqual(order, [3]);
  first();
  await waiting[1];
  assert.deepEqual(order, [3, 4]);
  third?.();
  await slots.take(signal);
});

test("`Slots` lets who waits go with the reason of the signal, without losing a slot", async () => {
  const slots = new Slots(1);
  const abort = new AbortController();
  const giveBack = await slots.take(abort.signal);
  const impatient = slots.take(abort.signal);
  const patient = slots.take(new AbortController().signal);
  const reason = new Error("enough");
  abort.abort(reason);
  await assert.rejects(impatient, reason);
  await assert.rejects(slots.take(abort.signal), reason);
  giveBack();
  assert.equal(typeof (await patient), "function");
});
