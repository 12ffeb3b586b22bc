import assert from "node:assert/strict";
import { test } from "node:test";
import { MessageQueue } from "./message-queue.ts";

function openQueue(sizeMax: number): { queue: MessageQueue<string>; calls: string[] } {
  const calls: string[] = [];
  const source = { pause: () => calls.push("pause"), resume: () => calls.push("resume") };
  const queue = new MessageQueue<string>(source, sizeMax);
  return { queue, calls };
}

test("MessageQueue yields the waiting messages, then ends", async () => {
  const { queue } = openQueue(100);
  queue.push("a", 1);
  queue.push("b", 1);
  queue.end();
  queue.push("late", 1);
  assert.deepEqual(await Array.fromAsync(queue), ["a", "b"]);
});

test("MessageQueue wakes a waiting reader when a message arrives, and rejects its read when the queue fails", async () => {
  const { queue } = openQueue(100);
  const first = queue.next();
  queue.push("a", 1);
  assert.deepEqual(await first, { done: false, value: "a" });
  const second = queue.next();
  queue.fail(new Error("gone"));
  await assert.rejects(second, /gone/);
  await assert.rejects(queue.next(), /gone/);
});

test("MessageQueue drops waiting messages when it fails", async () => {
  const { queue } = openQueue(100);
  queue.push("a", 1);
  queue.fail(new Error("bad"));
  await assert.rejects(queue.next(), /bad/);
});

test("MessageQueue pauses its source above sizeMax and resumes it at half of sizeMax, once each", async () => {
  const { queue, calls } = openQueue(600);
  for (const text of ["a", "b", "c", "d"]) queue.push(text, 4);
  assert.deepEqual(calls, ["pause"]);
  await queue.next();
  await queue.next();
  assert.deepEqual(calls, ["pause"]);
  await queue.next();
  assert.deepEqual(calls, ["pause", "resume"]);
});
