import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { flite, joined, silence } from "../../test/flite.ts";
import { wavOf } from "../../test/jobs-fixture.ts";
import { openWorkerFixture } from "../../test/worker-fixture.ts";
import { openEnginePool } from "../engines/engine-pool.ts";
import { msOfDuration } from "../std/duration.ts";
import { createLog } from "../std/log.ts";

const run = promisify(execFile);

const sentences = [
  "the quick brown fox jumps over the lazy dog",
  "we hold these truths to be self evident",
  "the weather is very nice today",
  "please open the window",
];
const pauseMs = 900;

test("spoken sentences in a compressed recording become segments of their words, where they were spoken", async () => {
  await using fixture = await openWorkerFixture();
  const log = createLog("silent");
  await using pool = await openEnginePool({ engine: "pocketsphinx", processes: 2, log });
  const spoken = [...sentences, ...sentences, ...sentences];
  const starts: number[] = [];
  let recording = silence(pauseMs);
  for (const sentence of spoken) {
    starts.push(recording.length / 16);
    recording = joined(recording, flite(sentence), silence(pauseMs));
  }
  const [wav, mp3] = ["speech.wav", "speech.mp3"].map((name) => join(fixture.folder, name));
  assert.ok(wav !== undefined && mp3 !== undefined);
  await writeFile(wav, wavOf(recording));
  await run("ffmpeg", ["-v", "error", "-i", wav, "-b:a", "96k", mp3]);
  await using _worker = await fixture.jobs.openWorker(pool);
  const name = await fixture.submit("/speech.mp3", await readFile(mp3));
  const job = await fixture.jobs.ended(fixture.account, name, 60_000);
  const { text, segments, metadata } = await fixture.transcriptOf(job);
  const [heard, expected] = [text.split(" "), spoken.join(" ").split(" ")];
  const errors = editDistance(heard, expected);
  assert.ok(errors <= expected.length * 0.2, `${errors} of ${expected.length}: ${text}`);
  const { recordingDuration } = metadata;
  assert.ok(recordingDuration);
  assert.ok(Math.abs(msOfDuration(recordingDuration) - recording.length / 16) < 100);
  assert.equal(segments.length, spoken.length);
  for (const [index, { startTime, endTime }] of segments.entries()) {
    assert.ok(startTime && endTime);
    const [start, end] = [msOfDuration(startTime), msOfDuration(endTime)];
    assert.ok(Math.abs(start - (starts[index] ?? 0)) < 400, `${index}: ${start}`);
    const next = starts[index + 1] ?? recording.length / 16;
    assert.ok(Math.abs(end - (next - pauseMs)) < 400, `${index}: ${end}`);
  }
});

function editDistance(a: readonly string[], b: readonly string[]): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (const [i, left] of a.entries()) {
    const next = [i + 1];
    for (const [j, right] of b.entries()) {
      const change = (row[j] ?? 0) + (left === right ? 0 : 1);
      next.push(Math.min(change, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
