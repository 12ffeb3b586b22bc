import assert from "node:assert/strict";
import { test } from "node:test";
import { RecognitionQueue } from "./recognition-queue.ts";
import type { Recognition } from "./recognizer.ts";

const recognition = (audioEndMs: number, isFinal: boolean): Recognition => ({
  isFinal,
  audioEndMs,
  alternatives: [{ text: "word", words: [] }],
});

async function readAll(queue: RecognitionQueue): Promise<string[]> {
  const read = [];
  for await (const { isFinal, audioEndMs } of queue.read()) {
    read.push(`${audioEndMs}${isFinal ? "!" : ""}`);
  }
  return read;
}

test("RecognitionQueue gives everything in order, also what comes while it is read", async () => {
  const queue = new RecognitionQueue();
  queue.push(recognition(1, false));
  const reading = readAll(queue);
  await new Promise((resolve) => setImmediate(resolve));
  queue.push(recognition(2, true));
  queue.push(recognition(3, false));
  queue.end();
  queue.push(recognition(4, false));
  assert.deepEqual(await reading, ["1", "2!", "3"]);
});

test("RecognitionQueue loses interim results of a slow reader and never finals", async () => {
  const queue = new RecognitionQueue();
  for (let ms = 1; ms <= 1000; ms++) queue.push(recognition(ms, ms % 100 === 0));
  queue.end();
  const read = await readAll(queue);
  assert.ok(read.length < 40, `${read.length} are kept`);
  assert.equal(read.filter((text) => text.endsWith("!")).length, 10);
  assert.deepEqual(read.slice(0, 3), ["1", "2", "3"]);
});

test("RecognitionQueue throws the error after what came before it", async () => {
  const queue = new RecognitionQueue();
  queue.push(recognition(1, true));
  queue.end({ error: new Error("lost") });
  queue.end();
  const reader = queue.read();
  assert.equal((await reader.next()).value?.audioEndMs, 1);
  await assert.rejects(reader.next(), /lost/);
});
