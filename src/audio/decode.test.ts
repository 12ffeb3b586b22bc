import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import { createLog } from "../std/log.ts";
import { ServiceError } from "../std/service-error.ts";
import { joinSamples } from "./join-samples.ts";
import { decodeAudio, decodedSampleRate } from "./decode.ts";
import { probeMedia } from "./probe-media.ts";
import { chooseSandbox, sandboxKinds, type Sandbox } from "./sandbox.ts";

const run = promisify(execFile);
const hour = 3_600_000;
let folder = "";
let sandboxes: readonly Sandbox[] = [];

/** A 500 Hz tone of two seconds, then a second of silence. */
const tone = ["-f", "lavfi", "-i", "sine=f=500:r=44100:d=2", "-af", "apad=pad_dur=1"];

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "hlust-decode-test-"));
  const log = createLog("silent");
  sandboxes = await Promise.all(sandboxKinds.map((kind) => chooseSandbox(kind, log)));
  await ffmpeg(...tone, "tone.wav");
});

after(() => rm(folder, { recursive: true, force: true }));

async function ffmpeg(...parameters: string[]): Promise<void> {
  await run("ffmpeg", ["-nostdin", "-v", "error", "-y", ...parameters], { cwd: folder });
}

async function decoded(name: string, sandbox = sandboxes[0], durationMsMax = hour) {
  assert.ok(sandbox);
  const chunks: Int16Array[] = [];
  const file = join(folder, name);
  for await (const chunk of decodeAudio({ file, sandbox, durationMsMax })) chunks.push(chunk);
  return joinSamples(chunks);
}

async function failure(name: string, sandbox = sandboxes[0]): Promise<ServiceError> {
  const error: unknown = await decoded(name, sandbox).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof ServiceError, `${name}: ${String(error)}`);
  assert.equal(error.message.includes(folder) || error.message.includes("/in"), false);
  return error;
}

function hertz(samples: Int16Array): number {
  let crossings = 0;
  for (let i = 1; i < samples.length; i++) {
    if ((samples[i - 1] ?? 0) < 0 !== (samples[i] ?? 0) < 0) crossings++;
  }
  return (crossings / 2 / samples.length) * decodedSampleRate;
}

test("decodeAudio() decodes the first audio stream and keeps its start time", async () => {
  const picture = "-f lavfi -i testsrc=d=1:s=64x64:r=5";
  const second = "-f lavfi -i sine=f=2000:d=3";
  const inputs = `${picture} -i tone.wav ${second} -itsoffset 1800 -i tone.wav`;
  const gap = "-af asetpts='PTS+if(gt(T\\,1)\\,1800/TB\\,0)'";
  const outputs = [
    "-map 0 -map 1 -map 2 -c:v mpeg4 two.mkv",
    "-map 2 -map 0 -map 1 -c:v mpeg4 two.mp4",
    "-map 0 -map 3 -c:v mpeg4 -max_interleave_delta 0 late.mkv",
    "-map 0 -map 3 -c:v mpeg4 -c:a aac late.mp4",
    `-map 1 ${gap} -c:a flac gap.mka`,
    "-map 1 -output_ts_offset 100 -c:a flac clock.mka",
    "-map 1 -output_ts_offset 100 -c:a libopus clock.opus",
    "-map 1 -output_ts_offset 100 -c:a aac clock.ts",
  ];
  await ffmpeg(...`${inputs} ${outputs.join(" ")}`.split(" "));
  // [file, start of the tone, frequency of the tone, end of the tone]
  const rows: readonly (readonly [string, number, number, number])[] = [
    ["two.mkv", 0, 500, 2],
    ["two.mp4", 0, 2_000, 3],
    ["late.mkv", 1_800, 500, 1_802],
    ["late.mp4", 1_800, 500, 1_802],
    ["gap.mka", 0, 500, 1_802],
    ["clock.mka", 0, 500, 2],
    ["clock.opus", 0, 500, 2],
    ["clock.ts", 0, 500, 2],
  ];
  for (const [at, [name, startSeconds, height, endSeconds]] of rows.entries()) {
    // Each sandbox gets recordings of each format, and each recording one sandbox.
    const samples = await decoded(name, sandboxes[at % sandboxes.length]);
    const isLoud = (sample: number): boolean => Math.abs(sample) > 1_000;
    const start = samples.findIndex(isLoud);
    assert.ok(Math.abs(start / decodedSampleRate - startSeconds) < 0.06, `${name}: ${start}`);
    const found = hertz(samples.subarray(start + 1_000, start + 15_000));
    assert.ok(Math.abs(found - height) < height / 100, `${name}: ${found} Hz`);
    const end = samples.findLastIndex(isLoud);
    assert.ok(Math.abs(end / decodedSampleRate - endSeconds) < 0.1, `${name}: ${end}`);
    if (name === "gap.mka")
      assert.ok(!samples.subarray(20_000, 20_000 + 1_799 * 16_000).some(isLoud));
  }
});

test("decodeAudio() describes what is wrong with a recording, in every sandbox", async () => {
  const picture = ["-f", "lavfi", "-i", "testsrc=d=1:s=64x64:r=5", "-c:v", "mpeg4"];
  await ffmpeg(...picture, "silent.mp4");
  await ffmpeg("-i", "tone.wav", "-movflags", "+faststart", "start.m4a");
  const whole = await readFile(join(folder, "start.m4a"));
  await writeFile(join(folder, "cut.m4a"), whole.subarray(0, whole.length / 2), { mode: 0o644 });
  await writeFile(join(folder, "list.mp4"), "#\nffconcat version 1.0\nfile 'tone.wav'\n");
  const rows: readonly (readonly [string, string, RegExp])[] = [
    ["list.mp4", "MEDIA_INVALID", /not a recording/],
    ["silent.mp4", "MEDIA_NO_AUDIO", /no audio stream/],
    ["cut.m4a", "MEDIA_TRUNCATED", /cut short: it declares 3.0 s of audio and has [01].\d s/],
  ];
  for (const sandbox of sandboxes) {
    for (const [name, reason, message] of rows) {
      const error = await failure(name, sandbox);
      assert.equal(error.reason, reason, `${name}: ${error.message}`);
      assert.match(error.message, message, name);
    }
  }
});

test("decodeAudio() reports a decoder that was stopped at its limits", async () => {
  const [sandbox] = sandboxes;
  assert.ok(sandbox);
  await ffmpeg("-i", "tone.wav", "costly.aiff");
  /** Allows a second of CPU time, which is too little for an endless input. */
  const narrow: Sandbox = {
    kind: sandbox.kind,
    start: async (options) =>
      sandbox.start({
        ...options,
        program: "ffmpeg",
        parameters: (file) => {
          const isDecoding = options.parameters(file).includes("smjpeg");
          const output = isDecoding ? "-f smjpeg -" : "-f null -";
          return `-nostdin -v error -f lavfi -i anoisesrc ${output}`.split(" ");
        },
        cpuSecondsMax: 1,
      }),
  };
  const failure = {
    reason: "MEDIA_INVALID",
    message: "the media is too costly to decode: its decoder was stopped",
  };
  await assert.rejects(decoded("costly.aiff", narrow), failure);
  const facts = { durationMs: 1e9, isDeclared: true, fileType: "AUDIO" } as const;
  const source = { file: join(folder, "costly.aiff"), sandbox: narrow, durationMsMax: 1e9, facts };
  await assert.rejects(async () => {
    for await (const samples of decodeAudio(source)) assert.ok(samples.length > 0);
  }, failure);
});

test("a playlist cannot read other files, even without a sandbox", async () => {
  /** Runs ffmpeg without isolation, with or without the allow-lists. */
  const bare: Sandbox = {
    kind: "reduced",
    async start({ program, parameters, file }) {
      const child = spawn(program, parameters(file ?? ""), { stdio: ["ignore", "pipe", "ignore"] });
      const ended = once(child, "close").then(([status]) => ({
        status: Number(status),
        complaints: "",
      }));
      const stop = async (): Promise<void> => void child.kill();
      return { pid: child.pid, stdout: child.stdout, ended, [Symbol.asyncDispose]: stop };
    },
  };
  await ffmpeg("-i", "tone.wav", "neighbor.mp3");
  const playlists: Readonly<Record<string, string>> = {
    "concat.txt": "ffconcat version 1.0\nfile neighbor.mp3\n",
    "hls.m3u8": "#EXTM3U\n#EXT-X-TARGETDURATION:3\n#EXTINF:3,\nneighbor.mp3\n#EXT-X-ENDLIST\n",
  };
  for (const [name, text] of Object.entries(playlists)) {
    const file = join(folder, name);
    await writeFile(file, text);
    const leaked = await run("ffmpeg", ["-v", "error", "-i", file, "-f", "s16le", "-"], {
      encoding: "buffer",
    });
    assert.ok(leaked.stdout.length > 0, "without the lists it could read them");
    const facts = { durationMs: undefined, isDeclared: false, fileType: "AUDIO" } as const;
    let samples = 0;
    await assert.rejects(async () => {
      for await (const chunk of decodeAudio({ file, sandbox: bare, durationMsMax: hour, facts })) {
        samples += chunk.length;
      }
    }, ServiceError);
    assert.equal(samples, 0, name);
  }
});

test("decodeAudio() decodes recordings that do not declare their duration", async () => {
  const whole = await decoded("tone.wav");
  const { stdout } = await run(
    "ffmpeg",
    ["-v", "error", "-i", join(folder, "tone.wav"), "-f", "wav", "-"],
    {
      encoding: "buffer",
      maxBuffer: 1e7,
    },
  );
  await writeFile(join(folder, "piped.wav"), stdout);
  assert.equal((await decoded("piped.wav")).length, whole.length);
  await ffmpeg("-i", "tone.wav", "-write_xing", "0", "-q:a", "0", "unsaid.mp3");
  await ffmpeg("-i", "tone.wav", "-c:a", "libopus", "-live", "1", "unsaid.webm");
  for (const name of ["unsaid.mp3", "unsaid.webm"]) {
    const [sandbox] = sandboxes;
    assert.ok(sandbox);
    const file = join(folder, name);
    const facts = await probeMedia({ file, sandbox, durationMsMax: hour });
    assert.equal(facts.isDeclared, false, name);
    assert.ok(Math.abs((facts.durationMs ?? 0) - 3_000) < 100, `${name}: ${facts.durationMs}`);
    assert.ok(Math.abs((await decoded(name)).length / decodedSampleRate - 3) < 0.1, name);
  }
});

test("decodeAudio() rejects a recording that is too long, whatever duration it declares", async () => {
  for (const name of ["tone.wav", "unsaid.webm"]) {
    await assert.rejects(decoded(name, sandboxes[0], 2_500), { reason: "MEDIA_TOO_LONG" });
  }
  await ffmpeg(
    "-f",
    "lavfi",
    "-i",
    "anullsrc=r=8000:cl=mono",
    "-t",
    "120",
    "-c:a",
    "flac",
    "long.flac",
  );
  // The number of samples in the header is set to 0, which means "unknown".
  const bytes = await readFile(join(folder, "long.flac"));
  bytes.fill(0, 22, 26);
  bytes.writeUInt8(bytes.readUInt8(21) & 0xf0, 21);
  await writeFile(join(folder, "long.flac"), bytes);
  await assert.rejects(decoded("long.flac", sandboxes[0], 60_000), { reason: "MEDIA_TOO_LONG" });
});

test("decodeAudio() decodes only as far as it is read, and stops when its reader stops", async () => {
  await ffmpeg("-f", "lavfi", "-i", "anullsrc=r=16000:cl=mono", "-t", "600", "pulled.aiff");
  const [sandbox] = sandboxes;
  assert.ok(sandbox);
  const runs: { pid: number | undefined; ended: Promise<unknown> }[] = [];
  const watched: Sandbox = {
    kind: sandbox.kind,
    async start(options) {
      const started = await sandbox.start(options);
      runs.push(started);
      return started;
    },
  };
  const file = join(folder, "pulled.aiff");
  const options = { file, sandbox: watched, durationMsMax: hour };
  for await (const chunk of decodeAudio(options)) {
    assert.ok(chunk.length > 0);
    // Decoding ten minutes takes 100 ms if the samples are read without a pause.
    const isOver = await isSettled(runs[1]?.ended, 500);
    assert.equal(isOver, false);
    break;
  }
  assert.equal(runs.length, 2);
  await Promise.all(runs.map(({ ended }) => ended));
  const reason = new Error("cancelled");
  await assert.rejects(async () => {
    const abort = new AbortController();
    for await (const _ of decodeAudio({ ...options, signal: abort.signal })) abort.abort(reason);
  }, reason);
  await truncate(file, 0);
});

async function isSettled(promise: Promise<unknown> | undefined, ms: number): Promise<boolean> {
  const { promise: late, resolve } = Promise.withResolvers<false>();
  const timer = setTimeout(() => resolve(false), ms);
  const isOver = await Promise.race([late, promise?.then(() => true) ?? late]);
  clearTimeout(timer);
  return isOver;
}
