// Threats 13 and 15: a killed worker leaves no decoder behind, and its files on disk are deleted at
// the next start.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtempDisposable, readdir, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { decodeAudio } from "../../src/audio/decode.ts";
import { chooseSandbox } from "../../src/audio/sandbox.ts";
import { createLog } from "../../src/std/log.ts";
import { toneRecognizer, toneWav } from "../fixtures/jobs-fixture.ts";
import { until } from "../fixtures/until.ts";
import { numbers, openWorkerFixture } from "../fixtures/worker-fixture.ts";
import { craftFlac, craftMov } from "./crafted-media.ts";
import { DecoderWatch, runningDecoders } from "./decoder-watch.ts";

test("a worker that is killed while decoding leaves no decoder, and no copy after the next start", async (context) => {
  await using fixture = await openWorkerFixture();
  const { scratchFolder } = fixture.jobs;
  const program = new URL("../fixtures/worker-process.ts", import.meta.url).pathname;
  // Pieces take so much time that the decoder has to wait in the middle of the recording.
  const worker = spawn(process.execPath, [program, fixture.folder, "60000"], { stdio: "ignore" });
  try {
    const recording = craftMov(toneWav(numbers(300)).subarray(44));
    await fixture.submit("/tones.mov", recording);
    const decoding = () => runningDecoders(worker.pid);
    await until(async () => {
      const copies = await readdir(scratchFolder);
      return copies.length === 1 && decoding().some(({ name }) => name === "ffmpeg");
    });
    const pids = decoding().map(({ pid }) => pid);
    const left = await readdir(scratchFolder);
    worker.kill("SIGKILL");
    const killedAt = performance.now();
    await until(async () => pids.every((pid) => !existsSync(`/proc/${pid}`)));
    context.diagnostic(`gone after ${Math.round(performance.now() - killedAt)} ms`);
    assert.deepEqual(await readdir(scratchFolder), left);
    await using _next = await fixture.jobs.openWorker(toneRecognizer());
    assert.deepEqual(await readdir(scratchFolder), []);
  } finally {
    worker.kill("SIGKILL");
  }
});

test("decoding an hour takes no more memory than decoding a minute", async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), "hlust-hour-test-"));
  const file = join(folder.path, "hour.flac");
  await writeFile(file, craftFlac(3_600, 0), { mode: 0o644 });
  const sandbox = await chooseSandbox("auto", createLog("silent"));
  using watch = new DecoderWatch();
  let samples = 0;
  let [least, most] = [Number.POSITIVE_INFINITY, 0];
  for await (const chunk of decodeAudio({ file, sandbox, durationMsMax: 3 * 3_600_000 })) {
    samples += chunk.length;
    // The first minutes are a warm-up and are not counted.
    if (samples < 5e6) continue;
    const { rss } = process.memoryUsage();
    [least, most] = [Math.min(least, rss), Math.max(most, rss)];
  }
  assert.equal(samples, 57_600_000);
  // The whole recording would take 115 MB.
  assert.ok(most - least < 80e6, `${most - least} bytes more`);
  assert.ok(watch.peakRss > 10e6 && watch.peakRss < 300e6, `${watch.peakRss}`);
});
