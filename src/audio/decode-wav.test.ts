import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, open, readFile, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import fc from "fast-check";
import { createLog } from "../std/log.ts";
import { decodeAudio } from "./decode.ts";
import { decodeWav } from "./decode-wav.ts";
import { pcmSampleBytes } from "./pcm-samples.ts";
import { findPlainWav, type PlainWav } from "./plain-wav.ts";
import { probeMedia } from "./probe-media.ts";
import { chooseSandbox, type Sandbox } from "./sandbox.ts";

const run = promisify(execFile);
const hour = 3_600_000;
let folder = "";
let sandbox: Sandbox;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "hlust-wav-test-"));
  sandbox = await chooseSandbox("auto", createLog("silent"));
});

after(() => rm(folder, { recursive: true, force: true }));

/** The fields of a WAV header. */
interface Header {
  readonly format: number;
  readonly channels: number;
  readonly rate: number;
  readonly bits: number;
  /** The channel mask, for an extensible header. */
  readonly mask?: number;
}

function wav(header: Header, data: Buffer, ...chunksAfter: readonly Buffer[]): Buffer {
  const { format, channels, rate, bits, mask } = header;
  const block = (channels * bits) / 8;
  const fmt = Buffer.alloc(mask === undefined ? 16 : 40);
  fmt.writeUInt16LE(mask === undefined ? format : 0xfffe, 0);
  fmt.writeUInt16LE(channels, 2);
  fmt.writeUInt32LE(rate, 4);
  fmt.writeUInt32LE(rate * block, 8);
  fmt.writeUInt16LE(block, 12);
  fmt.writeUInt16LE(bits, 14);
  if (mask !== undefined) {
    fmt.writeUInt16LE(22, 16);
    fmt.writeUInt16LE(bits, 18);
    fmt.writeUInt32LE(mask, 20);
    fmt.writeUInt16LE(format, 24);
    fmt.set(Buffer.from("000000001000800000aa00389b71", "hex"), 26);
  }
  const chunks = [chunk("fmt ", fmt), chunk("data", data), ...chunksAfter];
  return Buffer.concat([riff(Buffer.concat(chunks).length), ...chunks]);
}

function riff(bytes: number): Buffer {
  const head = Buffer.from("RIFF\0\0\0\0WAVE", "latin1");
  head.writeUInt32LE(bytes + 4, 4);
  return head;
}

function chunk(tag: string, bytes: Buffer): Buffer {
  const head = Buffer.from(`${tag}\0\0\0\0`, "latin1");
  head.writeUInt32LE(bytes.length, 4);
  return Buffer.concat([head, bytes, Buffer.alloc(bytes.length % 2)]);
}

/**
 * Returns a tone in each channel, at a frequency of speech and loud enough to reveal wrong samples.
 */
function tones({ format, channels, rate, bits }: Header, seconds: number): Buffer {
  const frames = Math.round(rate * seconds);
  const data = Buffer.alloc((frames * channels * bits) / 8);
  for (let at = 0; at < frames * channels; at++) {
    const seconds = Math.floor(at / channels) / rate;
    const hertz = 300 + 500 * (at % channels);
    const value =
      0.5 * Math.sin(2 * Math.PI * hertz * seconds) + 0.2 * Math.sin(2 * Math.PI * 2_750 * seconds);
    if (format === 3) data.writeFloatLE(value, at * 4);
    else if (bits === 8) data.writeUInt8(Math.round(value * 127) + 128, at);
    else data.writeIntLE(Math.round(value * (2 ** (bits - 1) - 1)), (at * bits) / 8, bits / 8);
  }
  return data;
}

async function write(bytes: Buffer): Promise<string> {
  const path = join(folder, "a.wav");
  await writeFile(path, bytes);
  return path;
}

async function plain(path: string): Promise<PlainWav | undefined> {
  await using file = await open(path);
  const start = Buffer.alloc(4096);
  const { bytesRead } = await file.read(start, 0, start.length, 0);
  return await findPlainWav(file, start.subarray(0, bytesRead), (await file.stat()).size);
}

async function decoded(path: string, found: PlainWav): Promise<Int16Array> {
  const chunks: Int16Array[] = [];
  for await (const samples of decodeWav(path, found, {})) chunks.push(samples);
  return Int16Array.from(chunks.flatMap((samples) => [...samples]));
}

async function byFfmpeg(path: string): Promise<Int16Array> {
  const parameters = ["-nostdin", "-v", "error", "-i", path, "-ac", "1", "-ar", "16000"];
  const { stdout } = await run("ffmpeg", [...parameters, "-f", "s16le", "pipe:1"], {
    encoding: "buffer",
    maxBuffer: 1 << 24,
  });
  return new Int16Array(new Uint8Array(stdout).buffer);
}

test("decodeWav() returns the same samples as ffmpeg at 16 kHz, and samples within half a percent of full scale at other rates", async () => {
  const rows: readonly Header[] = [
    { format: 1, channels: 1, rate: 16_000, bits: 16 },
    { format: 1, channels: 2, rate: 16_000, bits: 16 },
    { format: 1, channels: 1, rate: 16_000, bits: 8 },
    { format: 1, channels: 1, rate: 16_000, bits: 24, mask: 4 },
    { format: 1, channels: 1, rate: 16_000, bits: 32 },
    { format: 3, channels: 1, rate: 16_000, bits: 32, mask: 0 },
    { format: 1, channels: 2, rate: 48_000, bits: 24, mask: 3 },
    { format: 3, channels: 2, rate: 44_100, bits: 32 },
    { format: 1, channels: 1, rate: 8_000, bits: 8 },
    { format: 1, channels: 2, rate: 22_050, bits: 16 },
    { format: 1, channels: 1, rate: 11_025, bits: 16 },
  ];
  for (const header of rows) {
    const name = JSON.stringify(header);
    const list = chunk("LIST", Buffer.from("INFOISFT odd"));
    const path = await write(wav(header, tones(header, 0.7), list));
    const found = await plain(path);
    assert.ok(found, name);
    const [ours, theirs] = [await decoded(path, found), await byFfmpeg(path)];
    assert.ok(Math.abs(ours.length - theirs.length) <= 32, `${name}: ${ours.length} samples`);
    // At both ends, the filter reaches beyond the samples, where ffmpeg may fill in different
    // values.
    const edge = header.rate === 16_000 ? 0 : 100;
    const worst = ours
      .subarray(edge, ours.length - edge)
      .reduce((most, sample, at) => Math.max(most, Math.abs(sample - (theirs[at + edge] ?? 0))), 0);
    const bound = header.rate === 16_000 ? (header.channels === 1 ? 0 : 1) : 164;
    assert.ok(worst <= bound, `${name}: off by ${worst}`);
  }
});

test("findPlainWav() leaves every file that is not plain to ffmpeg", async () => {
  const usual: Header = { format: 1, channels: 1, rate: 16_000, bits: 16 };
  const data = tones(usual, 0.1);
  const marked = Buffer.concat([Buffer.from("72f81f4e", "hex"), data]);
  const rows: Readonly<Record<string, Buffer>> = {
    "three channels": wav({ ...usual, channels: 3 }, data),
    "another rate": wav({ ...usual, rate: 16_001 }, data),
    "a-law": wav({ ...usual, format: 6, bits: 8 }, data),
    "12 bits": wav({ ...usual, bits: 12 }, data),
    doubles: wav({ ...usual, format: 3, bits: 64 }, data),
    "other speakers": wav({ ...usual, channels: 2, mask: 12 }, data),
    "S/PDIF": wav(usual, marked),
    "no samples": wav(usual, Buffer.alloc(0)),
    "more data": wav(usual, data, chunk("LIST", Buffer.alloc(3)), chunk("data", data)),
    "many chunks": wav(usual, data, ...Array.from({ length: 40 }, () => chunk("junk", data))),
    "two formats": Buffer.concat([wav(usual, data).subarray(0, 36), wav(usual, data).subarray(12)]),
    "data before its format": Buffer.concat([riff(0), chunk("data", data)]),
    "nothing but a head": riff(0),
    "cut short": wav(usual, data).subarray(0, 1_000),
    "a wrong block": Buffer.from(wav(usual, data).fill(7, 32, 34)),
  };
  for (const [name, bytes] of Object.entries(rows)) {
    assert.equal(await plain(await write(bytes)), undefined, name);
  }
  const size = wav(usual, data);
  for (const unknown of [0, 0xffff_ffff]) {
    size.writeUInt32LE(unknown, 40);
    assert.equal(await plain(await write(size)), undefined, `${unknown} bytes`);
  }
});

test("findPlainWav() never throws for any WAV file, and returns samples that are within the file", async () => {
  const usual: Header = { format: 1, channels: 2, rate: 8_000, bits: 24, mask: 3 };
  const good = wav(usual, tones(usual, 0.02), chunk("LIST", Buffer.alloc(9)));
  const change = fc.tuple(fc.nat(good.length - 1), fc.nat(255));
  const bytes = fc
    .tuple(fc.array(change, { maxLength: 6 }), fc.nat(good.length))
    .map(([changes, cut]) => {
      const changed = Buffer.from(good);
      for (const [at, value] of changes) changed.writeUInt8(value, at % 90);
      return cut < 40 ? changed.subarray(0, cut * 10) : changed;
    });
  await fc.assert(
    fc.asyncProperty(bytes, async (hostile) => {
      const path = await write(hostile);
      const found = await plain(path);
      if (!found) return;
      const { dataOffset, frames, channels, encoding } = found;
      assert.ok(dataOffset + frames * channels * pcmSampleBytes[encoding] <= hostile.length);
      assert.ok((await decoded(path, found)).length > 0);
    }),
    { numRuns: 300, seed: 7 },
  );
});

test("decoding a plain WAV file starts no process, and fails in the same way as decoding other media", async () => {
  const none: Sandbox = {
    kind: "reduced",
    start: () => Promise.reject(new Error("a process was started")),
  };
  const usual: Header = { format: 1, channels: 1, rate: 16_000, bits: 16 };
  const path = await write(wav(usual, tones(usual, 2)));
  const options = { file: path, sandbox: none, durationMsMax: hour };
  assert.equal((await probeMedia(options)).durationMs, 2_000);
  const bytes: Uint8Array[] = [];
  const onBytes = (chunk: Uint8Array): number => bytes.push(Uint8Array.from(chunk));
  let samples = 0;
  for await (const chunk of decodeAudio({ ...options, onBytes })) samples += chunk.length;
  assert.equal(samples, 32_000);
  assert.deepEqual(Buffer.concat(bytes), await readFile(path), "every byte, in order");
  await assert.rejects(probeMedia({ ...options, durationMsMax: 1_999 }), {
    reason: "MEDIA_TOO_LONG",
  });
  const abort = new AbortController();
  const reason = new Error("cancelled");
  await assert.rejects(async () => {
    for await (const _ of decodeAudio({ ...options, signal: abort.signal })) abort.abort(reason);
  }, reason);
  await truncate(path, 30_000);
  await assert.rejects(probeMedia({ ...options, sandbox }), { reason: "MEDIA_TRUNCATED" });
});

test("decodeWav() lets other work run while it decodes hours of audio, and uses little memory", async () => {
  const usual: Header = { format: 1, channels: 2, rate: 44_100, bits: 16 };
  const path = await write(wav(usual, Buffer.alloc(0)));
  // A minute of silence is stored as a hole in the file.
  const frames = 60 * 44_100;
  await truncate(path, 44 + 4 * frames);
  const found: PlainWav = {
    encoding: "s16",
    channels: 2,
    sampleRateHertz: 44_100,
    dataOffset: 44,
    frames,
    sizeBytes: 44 + 4 * frames,
  };
  let turns = 0;
  const timer = setInterval(() => turns++, 0);
  let [samples, most] = [0, 0];
  for await (const chunk of decodeWav(path, found, {})) {
    samples += chunk.length;
    most = Math.max(most, chunk.length);
  }
  clearInterval(timer);
  assert.equal(samples, 60 * 16_000);
  assert.ok(most <= 8_192, `${most} samples at once`);
  assert.ok(turns > 30, `${turns} turns of the event loop`);
});
