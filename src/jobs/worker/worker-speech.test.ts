import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { espeak, joined, silence } from "../../../test/fixtures/flite.ts";
import { wavOf } from "../../../test/fixtures/jobs-fixture.ts";
import { openWorkerFixture } from "../../../test/fixtures/worker-fixture.ts";
import { openEnginePool } from "../../engines/pool/engine-pool.ts";
import type { Recognizer } from "../../engines/protocol/recognizer.ts";
import { msOfDuration } from "../../std/duration.ts";
import { createLog } from "../../std/log.ts";
import { pieceMsMax } from "./cut-pieces.ts";

const run = promisify(execFile);

const sentences = ["góðan daginn", "veðrið er gott í dag", "takk fyrir komuna"];
const pauseMs = 900;

test("a long recording has the same words as its separate sentences, with none lost or duplicated at the cuts", async () => {
  await using fixture = await openWorkerFixture();
  const log = createLog("silent");
  await using pool = await openEnginePool({
    engine: "auto",
    processes: 1,
    modelsFolder: join(fixture.folder, "models"),
    log,
  });
  const alone = new Map(await Promise.all(sentences.map((text) => recognizeAlone(pool, text))));
  const spoken = Array.from({ length: 18 }, (_, nth) => sentences[nth % 3] ?? "");
  const starts: number[] = [];
  let recording = silence(pauseMs);
  for (const sentence of spoken) {
    starts.push(recording.length / 16);
    recording = joined(recording, espeak(sentence), silence(pauseMs));
  }
  const [wav, mp3] = ["speech.wav", "speech.mp3"].map((name) => join(fixture.folder, name));
  assert.ok(wav !== undefined && mp3 !== undefined);
  await writeFile(wav, wavOf(recording));
  await run("ffmpeg", ["-v", "error", "-i", wav, "-b:a", "96k", mp3]);
  await using _worker = await fixture.jobs.openWorker(pool);
  const name = await fixture.submit("/speech.mp3", await readFile(mp3), "is-IS");
  const job = await fixture.jobs.ended(fixture.account, name, 180_000);
  const { text, segments, metadata } = await fixture.transcriptOf(job);
  const { recordingDuration } = metadata;
  assert.ok(recordingDuration);
  assert.ok(Math.abs(msOfDuration(recordingDuration) - recording.length / 16) < 100);
  assert.ok(recording.length / 16 > 1.2 * pieceMsMax, "it has to be cut");
  assert.equal(text, spoken.join(" "));
  assert.equal(segments.length, spoken.length);
  let at = 0;
  for (const [index, { startTime, endTime, words }] of segments.entries()) {
    const expected = alone.get(spoken[index] ?? "") ?? [];
    assert.ok(startTime && endTime);
    const [start, end] = [msOfDuration(startTime), msOfDuration(endTime)];
    for (const [nth, word] of words.entries()) {
      assert.ok(word.startTime && word.endTime);
      const [from, to] = [msOfDuration(word.startTime), msOfDuration(word.endTime)];
      assert.ok(at <= from && from <= to && start <= from && to <= end, `${index}, ${nth}`);
      at = to;
      const lateMs = from - (starts[index] ?? 0) - (expected[nth]?.startMs ?? 0);
      assert.ok(Math.abs(lateMs) < 250, `${index}, ${nth}: ${lateMs} ms`);
    }
  }
});

/**
 * Returns the words of a sentence that is recognized separately, with times from its first sample.
 */
async function recognizeAlone(pool: Recognizer, text: string) {
  const samples = joined(silence(pauseMs), espeak(text), silence(pauseMs));
  const options = { languageCode: "is-IS", mode: "job", sampleRateHertz: 16_000 } as const;
  const messages = await Array.fromAsync(pool.recognize([samples], options));
  const words = messages
    .filter(({ isFinal }) => isFinal)
    .flatMap(({ alternatives }) => alternatives[0]?.words ?? []);
  return [text, words.map((word) => ({ ...word, startMs: word.startMs - pauseMs }))] as const;
}
