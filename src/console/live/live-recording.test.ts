import assert from "node:assert/strict";
import { test } from "node:test";
import { readWavHeader } from "../../std/wav.ts";
import { LiveRecording } from "./live-recording.ts";

const rate = 1000;
/** Returns samples whose values are their positions. */
const samples = (start: number, length: number) =>
  Int16Array.from({ length }, (_, at) => (start + at) % 30_000);

async function readAll(recording: LiveRecording, start: number): Promise<number[]> {
  const read: number[] = [];
  let reported = start;
  for await (const bytes of recording.from(start, (end) => (reported = end))) {
    const copy = Uint8Array.from(bytes);
    read.push(...new Int16Array(copy.buffer));
    assert.equal(reported, start + read.length);
  }
  return read;
}

test("from() returns every sample after any position, whether in memory or stored", async () => {
  const recording = new LiveRecording(rate);
  for (let at = 0; at < 25_000; at += 100) recording.push(samples(at, 100));
  recording.end();
  assert.deepEqual([recording.length, recording.seconds, recording.bytes], [25_000, 25, 50_000]);
  for (const start of [0, 1, 9_999, 10_000, 15_050, 20_000, 24_999, 25_000]) {
    assert.deepEqual(await readAll(recording, start), [...samples(start, 25_000 - start)]);
  }
});

test("from() waits for audio that has not arrived yet, and hasMore() waits for audio or the end", async () => {
  const recording = new LiveRecording(rate);
  const reading = readAll(recording, 0);
  recording.push(samples(0, 10));
  await Promise.resolve();
  recording.push(samples(10, 5));
  recording.end();
  assert.deepEqual(await reading, [...samples(0, 15)]);
  assert.equal(await recording.hasMore(15), false);
  recording.resume();
  const more = recording.hasMore(15);
  recording.push(samples(15, 1));
  assert.equal(await more, true);
});

test("wav() contains the whole recording", async () => {
  const recording = new LiveRecording(rate);
  for (let at = 0; at < 12_000; at += 500) recording.push(samples(at, 500));
  const file = new Uint8Array(await recording.wav().arrayBuffer());
  const header = readWavHeader(file);
  assert.ok(header);
  assert.deepEqual([header.channels, header.sampleRateHertz], [1, rate]);
  const content = file.slice(header.dataOffset, header.dataOffset + header.dataBytes);
  assert.deepEqual(new Int16Array(content.buffer), samples(0, 12_000));
});
