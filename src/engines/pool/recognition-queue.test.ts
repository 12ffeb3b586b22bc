import assert from "node:assert/strict";
import { test } from "node:test";
import { RecognitionQueue } from "./recognition-queue.ts";
import type { Recognition } from "../protocol/recognizer.ts";

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

test("RecognitionQueue returns all results in order, even results that arrive while it is being read", async () => {
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

test("RecognitionQueue drops interim results for a slow reader, but never final results", async () => {
  const queue = new RecognitionQueue();
  for (let ms = 1; ms <= 1000; ms++) queue.push(recognition(ms, ms % 100 === 0));
  queue.end();
  const read = await readAll(queue);
  assert.ok(read.length < 40, `${read.length} are kept`);
  assert.equal(read.filter((text) => text.endsWith("!")).length, 10);
  assert.deepEqual(read.slice(0, 3), ["1", "2", "3"]);
});

test("RecognitionQueue throws the error after the results that precede it", async () => {
  const queue = new RecognitionQueue();
  queue.push(recognition(1, true));
  queue.end({ error: new Error("lost") });
  queue.end();
  const reader = queue.read();
  assert.equal((await reader.next()).value?.audioEndMs, 1);
  await assert.rejects(reader.next(), /lost/);
});

test("a full RecognitionQueue has room again once half of it has been read or it has ended", async () => {
  for (const isLeft of [false, true]) {
    const queue = new RecognitionQueue();
    let hasRoom = false;
    for (let ms = 1; ms <= 64; ms++) {
      assert.equal(queue.room, undefined, `${ms - 1} wait`);
      queue.push(recognition(ms, true));
    }
    const { room } = queue;
    assert.ok(room);
    void room.then(() => (hasRoom = true));
    // Results in flight are still accepted.
    for (let ms = 65; ms <= 100; ms++) queue.push(recognition(ms, true));
    assert.equal(queue.room, room);
    const reader = queue.read();
    for (let read = 1; read <= 67; read++) await reader.next();
    assert.equal(queue.room, room);
    assert.ok(!hasRoom, "33 wait");
    if (isLeft) queue.end();
    else await reader.next();
    await new Promise((resolve) => setImmediate(resolve));
    assert.ok(hasRoom);
    assert.equal(queue.room, undefined);
  }
});
