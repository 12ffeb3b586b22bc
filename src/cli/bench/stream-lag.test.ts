import assert from "node:assert/strict";
import { test } from "node:test";
import { Distribution } from "./distribution.ts";
import { chunksOf } from "./recording.ts";
import { SentChunks } from "./sent-chunks.ts";
import { StreamLag } from "./stream-lag.ts";

const recording = { name: "r", sampleRateHertz: 16_000, samples: Buffer.alloc(2 * 16 * 350) };

/** Returns chunks of 100, 100, 100 and 50 ms, sent every 100 ms from 1000 ms on. */
function sentChunks(count: number): SentChunks {
  const sent = new SentChunks(chunksOf(recording, 100));
  for (let chunk = 0; chunk < count; chunk += 1) sent.sent(1000 + 100 * chunk);
  return sent;
}

test("SentChunks returns the time at which a moment of the stream was sent, even if the recording repeats", () => {
  const sent = sentChunks(8);
  const rows: [audioMs: number, atMs: number | undefined][] = [
    [0, 1000],
    [99, 1000],
    // In whole milliseconds, the word ends together with the chunk.
    [100, 1000],
    [102, 1100],
    [300, 1200],
    [349, 1300],
    [352, 1400],
    [450, 1400],
    [700, 1700],
    [702, undefined],
  ];
  for (const [audioMs, atMs] of rows) assert.equal(sent.sentAtOf(audioMs), atMs, `${audioMs}`);
});

test("StreamLag measures the time since the chunk that a message waited for", () => {
  const lags = {
    interim: new Distribution(),
    final: new Distribution(),
    lastFinal: new Distribution(),
  };
  const sent = sentChunks(4);
  const lag = new StreamLag(sent, 150, lags);
  const interim = (endMs: number | undefined, atMs: number) =>
    lag.answered({ isFinal: false, transcript: "", endMs }, atMs);
  const final = (endMs: number, atMs: number) =>
    lag.answered({ isFinal: true, transcript: "", endMs }, atMs);
  interim(150, 1120);
  interim(150, 1150);
  interim(undefined, 1150);
  assert.deepEqual(lags.interim.summary(), { count: 1, p50: 20, p95: 20, p99: 20, max: 20 });
  // The position 150 + 150 ms is in the third chunk.
  final(150, 1230);
  assert.equal(lags.final.summary()?.max, 30);
  // The chunk with the position 300 + 150 ms was not sent yet: the utterance reached its maximum
  // length.
  final(300, 1260);
  assert.equal(lags.final.summary()?.max, 60);
  assert.equal(lags.lastFinal.summary(), undefined);
  sent.finalized(1400);
  final(340, 1407);
  assert.equal(lags.lastFinal.summary()?.max, 7);
});
