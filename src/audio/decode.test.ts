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
import { decodeAudio, decodedSampleRate } from "./decode.ts";
import { probeMedia } from "./probe-media.ts";
import { chooseSandbox, type Sandbox } from "./sandbox.ts";

const run = promisify(execFile);
const hour = 3_600_000;
let folder = "";
let sandboxes: readonly Sandbox[] = [];

/** Two seconds of a tone of 500 Hz, then a second of silence. */
const tone = ["-f", "lavfi", "-i", "sine=f=500:r=44100:d=2", "-af", "apad=pad_dur=1"];

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "hlust-decode-test-"));
  const log = createLog("silent");
  sandboxes = [await chooseSandbox("bubblewrap", log), await chooseSandbox("reduced", log)];
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
  const samples = new Int16Array(chunks.reduce((sum, chunk) => sum + chunk.length, 0));
  let at = 0;
  for (const chunk of chunks) {
    samples.set(chunk, at);
    at += chunk.length;
  }
  return samples;
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

test("`decodeAudio()` gives 16 kHz of one channel from every common container", async () => {
  const rows: readonly (readonly string[])[] = [
    ["a.wav", "-ac", "2", "-ar", "48000"],
    ["a.mp3"],
    ["a.m4a"],
    ["a.aac"],
    ["a.flac"],
    ["a.ogg", "-c:a", "libvorbis"],
    ["a.webm", "-c:a", "libopus"],
    ["a.aiff"],
    ["a.caf"],
    ["a.wma"],
    ["a.amr", "-c:a", "libopencore_amrnb", "-ar", "8000", "-ac", "1"],
    ["a.ts", "-c:a", "aac"],
  ];
  const check = async ([name = "", ...parameters]: readonly string[]): Promise<void> => {
    const hasEncoder = await ffmpeg("-i", "tone.wav", ...parameters, name).then(
      () => true,
      () => name !== "a.amr",
    );
    if (!hasEncoder) return;
    const samples = await decoded(name);
    const seconds = samples.length / decodedSampleRate;
    assert.ok(Math.abs(seconds - 3) < 0.15, `${name}: ${seconds} s`);
    const heard = hertz(samples.subarray(8_000, 24_000));
    assert.ok(Math.abs(heard - 500) < 5, `${name}: ${heard} Hz`);
  };
  await Promise.all(rows.map(check));
});

test("`decodeAudio()` takes the first audio stream of a video, at its place in time", async () => {
  const picture = ["-f", "lavfi", "-i", "testsrc=d=3:s=64x64:r=5"];
  const second = ["-f", "lavfi", "-i", "sine=f=2000:d=3"];
  const maps = ["-map", "0:v", "-map", "1:a", "-map", "2:a"];
  for (const name of ["v.mp4", "v.mkv", "v.avi"]) {
    await ffmpeg(...picture, "-i", "tone.wav", ...second, ...maps, "-c:v", "mpeg4", name);
    const samples = await decoded(name);
    assert.ok(Math.abs(hertz(samples.subarray(8_000, 24_000)) - 500) < 10, name);
  }
  await ffmpeg(...picture, "-itsoffset", "1", "-i", "tone.wav", "-c:v", "mpeg4", "late.mkv");
  const late = await decoded("late.mkv");
  assert.ok(late.subarray(0, 14_000).every((sample) => Math.abs(sample) < 100));
  assert.ok(Math.abs(hertz(late.subarray(20_000, 40_000)) - 500) < 10);
});

test("`decodeAudio()` tells in words what is no whole recording, in every sandbox", async () => {
  const picture = ["-f", "lavfi", "-i", "testsrc=d=1:s=64x64:r=5", "-c:v", "mpeg4"];
  await ffmpeg("-i", "tone.wav", "end.m4a");
  await ffmpeg("-i", "tone.wav", "-movflags", "+faststart", "start.m4a");
  for (const name of ["cut.mp3", "cut.flac", "cut.mka", "cut.ogg"]) {
    await ffmpeg("-i", "tone.wav", name);
  }
  await ffmpeg(...picture, "silent.mp4");
  const half = async (from: string, to: string): Promise<void> => {
    const bytes = await readFile(join(folder, from));
    await writeFile(join(folder, to), bytes.subarray(0, bytes.length / 2), { mode: 0o644 });
  };
  await half("end.m4a", "cut-end.m4a");
  await half("start.m4a", "cut-start.m4a");
  await half("tone.wav", "cut.wav");
  for (const name of ["cut.mp3", "cut.flac", "cut.mka"]) await half(name, name);
  const texts: Readonly<Record<string, string>> = {
    "empty.wav": "",
    "page.wav": "\n<!DOCTYPE html><html><body>404</body></html>",
    "data.mp3": '{"error": "not found"}',
    "feed.xml": '<?xml version="1.0"?><rss></rss>',
    "text.mp3": "This is only a text, and not a recording. ".repeat(100),
    "paper.m4a": "%PDF-1.7\n",
    "list.mp3": "#EXTM3U\n#EXTINF:2,\ntone.wav\n",
    "list.mp4": "ffconcat version 1.0\nfile tone.wav\n",
    "list2.mp4": "\n\n  # x\nffconcat version 1.0\nfile 'tone.wav'\n",
    "list.mpd": '<?xml version="1.0"?>\n<MPD xmlns="urn:mpeg:dash:schema:mpd:2011"></MPD>',
    "list.pls": "[playlist]\nFile1=tone.wav\n",
    "session.sdp":
      "v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nt=0 0\nm=audio 5004 RTP/AVP 96\n",
    "script.mp3": "#!/bin/sh\ncat tone.wav\n",
  };
  for (const [name, text] of Object.entries(texts)) await writeFile(join(folder, name), text);
  await writeFile(join(folder, "noise.mp3"), Buffer.alloc(50_000, 0xa5));
  await ffmpeg("-f", "lavfi", "-i", "anullsrc", "-t", "0", "zero.wav");
  const rows: readonly (readonly [string, string, RegExp])[] = [
    ["empty.wav", "MEDIA_INVALID", /empty: 0 bytes/],
    ["zero.wav", "MEDIA_INVALID", /0 s of audio/],
    ["page.wav", "MEDIA_INVALID", /web page \(HTML\), not a recording/],
    ["data.mp3", "MEDIA_INVALID", /JSON/],
    ["feed.xml", "MEDIA_INVALID", /XML/],
    ["text.mp3", "MEDIA_INVALID", /not a recording/],
    ["noise.mp3", "MEDIA_INVALID", /not a recording/],
    ["paper.m4a", "MEDIA_INVALID", /PDF/],
    ["list.mp3", "MEDIA_INVALID", /playlist/],
    ["list.mp4", "MEDIA_INVALID", /playlist/],
    ["list2.mp4", "MEDIA_INVALID", /not a recording/],
    ["list.mpd", "MEDIA_INVALID", /playlist/],
    ["list.pls", "MEDIA_INVALID", /playlist/],
    ["session.sdp", "MEDIA_INVALID", /not a recording/],
    ["script.mp3", "MEDIA_INVALID", /not a recording/],
    ["silent.mp4", "MEDIA_NO_AUDIO", /no audio stream/],
    ["cut-end.m4a", "MEDIA_TRUNCATED", /cut short/],
    [
      "cut-start.m4a",
      "MEDIA_TRUNCATED",
      /cut short: it says that it has 3.0 s of audio, [01].\d s/,
    ],
    ["cut.wav", "MEDIA_TRUNCATED", /cut short: .* bytes of audio, .* missing/],
    ["cut.mp3", "MEDIA_TRUNCATED", /cut short/],
    ["cut.flac", "MEDIA_TRUNCATED", /cut short/],
    ["cut.mka", "MEDIA_TRUNCATED", /cut short/],
  ];
  const check = async ([name, reason, message]: (typeof rows)[number], sandbox?: Sandbox) => {
    const error = await failure(name, sandbox);
    assert.equal(error.reason, reason, `${name}: ${error.message}`);
    assert.match(error.message, message, name);
  };
  await Promise.all(rows.map(async (row) => await check(row)));
  const some = rows.filter(([name]) => ["list2.mp4", "silent.mp4", "cut-start.m4a"].includes(name));
  await Promise.all(some.map(async (row) => await check(row, sandboxes[1])));
});

test("a playlist does not get at other files, even without a sandbox", async () => {
  /** What the allow-lists of formats and protocols are worth alone. */
  const bare: Sandbox = {
    kind: "reduced",
    async start({ program, parameters, file }) {
      const child = spawn(program, parameters(file), { stdio: ["ignore", "pipe", "ignore"] });
      const ended = once(child, "close").then(([status]) => ({
        status: Number(status),
        complaints: "",
      }));
      const stop = async (): Promise<void> => void child.kill();
      return { pid: child.pid, stdout: child.stdout, ended, [Symbol.asyncDispose]: stop };
    },
  };
  await ffmpeg("-i", "tone.wav", "neighbour.mp3");
  const playlists: Readonly<Record<string, string>> = {
    "concat.txt": "ffconcat version 1.0\nfile neighbour.mp3\n",
    "hls.m3u8": "#EXTM3U\n#EXT-X-TARGETDURATION:3\n#EXTINF:3,\nneighbour.mp3\n#EXT-X-ENDLIST\n",
  };
  for (const [name, text] of Object.entries(playlists)) {
    const file = join(folder, name);
    await writeFile(file, text);
    const leaked = await run("ffmpeg", ["-v", "error", "-i", file, "-f", "s16le", "-"], {
      encoding: "buffer",
    });
    assert.ok(leaked.stdout.length > 0, "without the lists it would get at them");
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

test("`decodeAudio()` takes recordings that do not say how long they are", async () => {
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

test("`decodeAudio()` refuses a recording that is too long, whatever it says", async () => {
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
  // A header that lies: 0 samples stands for "not known".
  const bytes = await readFile(join(folder, "long.flac"));
  bytes.fill(0, 22, 26);
  bytes.writeUInt8(bytes.readUInt8(21) & 0xf0, 21);
  await writeFile(join(folder, "long.flac"), bytes);
  await assert.rejects(decoded("long.flac", sandboxes[0], 60_000), { reason: "MEDIA_TOO_LONG" });
});

test("`decodeAudio()` is pulled: it runs no further than it is read, and ends with its reader", async () => {
  await ffmpeg("-f", "lavfi", "-i", "anullsrc=r=16000:cl=mono", "-t", "600", "pulled.wav");
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
  const file = join(folder, "pulled.wav");
  const options = { file, sandbox: watched, durationMsMax: hour };
  for await (const chunk of decodeAudio(options)) {
    assert.ok(chunk.length > 0);
    // Ten minutes take 100 ms when nobody holds them up.
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
