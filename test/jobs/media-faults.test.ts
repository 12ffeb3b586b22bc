// Issue "Jobs", bad input: broken, misleading and hostile media, processed by one real worker.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { pino } from "pino";
import { TranscriptJob_State as State } from "../../src/gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { toneRecognizer, toneWav, wavOf } from "../fixtures/jobs-fixture.ts";
import { until } from "../fixtures/until.ts";
import { openWorkerFixture, type WorkerFixture } from "../fixtures/worker-fixture.ts";
import { craftFlac, craftMov, craftPng, craftWav, withPicture } from "./crafted-media.ts";
import { craftPlaylists } from "./crafted-playlists.ts";
import { DecoderWatch, runningDecoders } from "./decoder-watch.ts";

const run = promisify(execFile);
const words = [20, 35, 50, 25, 40, 30];
const tones = toneWav(words);
const text = words.join(" ");
const samples = tones.subarray(44);
/** Error codes of google.rpc. */
const [invalid, tooLong, cut] = [3, 11, 15];

let fixture: WorkerFixture;
let worker: AsyncDisposable;
let watch: DecoderWatch;
const log: string[] = [];
let canaryCalls = 0;
/** The tones encoded by ffmpeg, by file name. */
const made = new Map<string, Buffer>();

before(async () => {
  fixture = await openWorkerFixture();
  await makeMedia(fixture.folder);
  const options = { level: "info", base: null, messageKey: "event" };
  const lines = pino(options, { write: (line: string) => void log.push(line) });
  worker = await fixture.jobs.openWorker(toneRecognizer(), { log: lines });
  watch = new DecoderWatch();
});
after(async () => {
  watch[Symbol.dispose]();
  await worker[Symbol.asyncDispose]();
  await fixture[Symbol.asyncDispose]();
});

/** Creates all media files with one ffmpeg process. */
async function makeMedia(folder: string): Promise<void> {
  const wav = join(folder, "tones.wav");
  await writeFile(wav, tones);
  await writeFile(join(folder, "secret.txt"), "the other tenant's words");
  const outputs: readonly (readonly string[])[] = [
    ["a.mp3", "-metadata", "title=\u001b[31mred\n<script>alert(1)</script>\u0007"],
    ["end.m4a"],
    ["start.m4a", "-movflags", "+faststart"],
    ["a.ogg", "-c:a", "libopus"],
    ["a.flac"],
    [
      "a.mka",
      "-c:a",
      "flac",
      "-attach",
      join(folder, "secret.txt"),
      "-metadata:s:t",
      "mimetype=text/plain",
    ],
    ["a.aac"],
    [
      "locked.mp4",
      ..."-encryption_scheme cenc-aes-ctr -encryption_key 76a6c65c5ea762046bd749a2e632ccbb".split(
        " ",
      ),
      "-encryption_kid",
      "a7e61c373e219033c21091fa607bf3b8",
    ],
  ];
  const sound = outputs.flatMap(([name = "", ...how]) => ["-map", "0", ...how, join(folder, name)]);
  const pictures = ["-map", "1", "-c:v", "mpeg4", join(folder, "silent.mp4")];
  const inputs = ["-i", wav, "-f", "lavfi", "-i", "testsrc=d=1:s=64x64:r=5"];
  await run("ffmpeg", ["-nostdin", "-v", "error", ...inputs, ...sound, ...pictures]);
  for (const [name = ""] of [...outputs, ["silent.mp4"]]) {
    made.set(name, await readFile(join(folder, name)));
  }
}

function media(name: string): Buffer {
  const bytes = made.get(name);
  assert.ok(bytes, name);
  return bytes;
}

function half(bytes: Buffer): Buffer {
  return bytes.subarray(0, bytes.length / 2);
}

type Row = readonly [path: string, bytes: Buffer | string, code: number, message: RegExp];

/**
 * Submits all rows, a few concurrently, and checks how each job ends: as ERROR, or with these
 * words if the code is 0.
 */
async function check(rows: readonly Row[], expected = text): Promise<void> {
  const left = rows.values();
  const next = async (): Promise<void> => {
    for (const [path, bytes, code, message] of left)
      await checkOne([path, bytes, code, message], expected);
  };
  await Promise.all([next(), next(), next(), next()]);
}

async function checkOne([path, bytes, code, message]: Row, expected: string): Promise<void> {
  const logged = log.length;
  const { jobs, account } = fixture;
  const url = `/${encodeURIComponent(path)}`;
  const name = await fixture.submit(url, Buffer.from(bytes));
  const job = await jobs.ended(account, name, 120_000);
  const problem = `${path}: ${job.error?.code} ${job.error?.message}`;
  if (code === 0) {
    assert.equal(job.state, State.SUCCESS, problem);
    const transcript = await fixture.transcriptOf(job);
    assert.match(transcript.text, message, path);
    if (expected !== "") assert.equal(transcript.text, expected, path);
    return;
  }
  assert.equal(job.state, State.ERROR, problem);
  assert.equal(job.transcript, undefined, problem);
  assert.equal(job.error?.code, code, problem);
  assert.match(job.error?.message ?? "", message, problem);
  // The message is a readable sentence, without paths, messages from ffmpeg or content of the file.
  assert.match(
    job.error?.message ?? "",
    /^the (media|recording) (is|has|says) [\w ,.:()-]+$/,
    problem,
  );
  await until(async () => failureLogged(name, logged) !== undefined);
  assert.match(failureLogged(name, logged) ?? "", /^MEDIA_/);
}

/** Returns the reason that the log contains for the failure of a job. */
function failureLogged(name: string, from: number): string | undefined {
  const id = name.split("/")[1] ?? "";
  const line = log.slice(from).find((each) => each.includes("job.failed") && each.includes(id));
  const fields: { reason?: string } | undefined = line && JSON.parse(line);
  return fields?.reason;
}

describe("jobs with hostile media", { concurrency: true }, () => {
  test("files that are not recordings fail with the name of their type", async () => {
    await check([
      ["empty.wav", "", invalid, /empty: the URL returned 0 bytes/],
      ["byte.mp3", "\0", invalid, /not a recording/],
      ["page.wav", "\n<!DOCTYPE html><html><body>404</body></html>", invalid, /web page \(HTML\)/],
      ["data.mp3", '{"error": "not found"}', invalid, /JSON/],
      ["feed.mp3", '<?xml version="1.0"?><rss></rss>', invalid, /XML/],
      ["paper.m4a", "%PDF-1.7\n", invalid, /PDF/],
      ["text.mp3", "Once upon a time. ".repeat(200), invalid, /not a recording/],
      ["noise.mp3", Buffer.alloc(50_000, 0xa5), invalid, /not a recording/],
      ["bomb.gz", gzipSync(Buffer.alloc(20_000_000)), invalid, /compressed \(gzip\)/],
      [
        "bomb.zip",
        Buffer.concat([Buffer.from("PK\x03\x04"), Buffer.alloc(1_000)]),
        invalid,
        /ZIP archive/,
      ],
      ["picture.mp3", craftPng(64), invalid, /an image/],
      ["silent.mp4", media("silent.mp4"), invalid, /no audio stream/],
      ["none.wav", wavOf(new Int16Array(0)), invalid, /0 s of audio/],
      ["locked.mp4", media("locked.mp4"), invalid, /encrypted/],
    ]);
  });

  test("playlists fail and reach no other files or servers", async () => {
    const { scratchFolder } = fixture.jobs;
    const absolute = join(fixture.folder, "tones.wav");
    await mkdir(scratchFolder, { recursive: true });
    const canary = `${fixture.url}/canary`;
    for (const path of ["segment.ts", "key", "secret.wav"]) {
      await serveCanary(`/canary/${path}`);
    }
    const playlists = craftPlaylists({ neighbor: "../../tones.wav", absolute, canary });
    const names = ["a.mp3", "a.mp4", "a"];
    const rows = Object.entries(playlists).map(([kind, playlist], index): Row => [
      `${kind}/${names[index % names.length]}`,
      playlist,
      invalid,
      /playlist|not a recording|image/,
    ]);
    await check(rows);
    assert.equal(canaryCalls, 0);
  });

  test("files that refer to others play only their own content", async () => {
    const url = `file://${join(fixture.folder, "tones.wav")}`;
    const silent = Buffer.alloc(samples.length);
    await check([["dref.mov", craftMov(silent, { dataUrl: url }), 0, /^$/]], "");
    await check([["attachments.mka", media("a.mka"), 0, /./]]);
  });

  test("truncated files fail if they declare their length, and otherwise end where the data ends", async () => {
    await check([
      ["cut.mp3", half(media("a.mp3")), cut, /declares 3.\d s of audio and has 1.\d s/],
      ["cut-end.m4a", half(media("end.m4a")), cut, /the part that describes its format is missing/],
      ["cut-start.m4a", half(media("start.m4a")), cut, /declares 3.\d s of audio/],
      ["cut.flac", half(media("a.flac")), cut, /declares 3.\d s of audio/],
      ["cut.wav", half(tones), cut, /\d+ of its \d+ bytes of audio are missing/],
      ["cut.mka", half(media("a.mka")), cut, /cut short/],
    ]);
    await check([["cut.ogg", half(media("a.ogg")), 0, /^20\b/]], "");
    await check([["cut.aac", half(media("a.aac")), 0, /^2[01] /]], "");
  });

  test("files with false headers are read by their content, or fail", async () => {
    await check([
      ["4-gigabytes.wav", craftWav(samples, { dataBytes: 4_000_000_000 }), 0, /./],
      ["unknown.mov", craftMov(samples, { duration: 0n }), 0, /./],
      ["negative.mov", craftMov(samples, { duration: 1n << 63n }), 0, /./],
      ["endless.mov", craftMov(samples, { duration: 10n ** 18n }), 0, /./],
      ["title.mp3", media("a.mp3"), 0, /./],
      ["cover.mp3", withPicture(media("a.mp3"), craftPng(30_000)), 0, /./],
      ["large-cover.mp3", withPicture(media("a.mp3"), craftPng(16_000)), 0, /./],
    ]);
    await check([["silence.wav", wavOf(new Int16Array(32_000)), 0, /^$/]], "");
    await check([["says-less.flac", craftFlac(3, 16_000), 0, /^$/]], "");
    await check([
      ["2-gigabytes.wav", craftWav(samples, { dataBytes: 2_000_000_000 }), cut, /bytes of audio/],
      ["channels.wav", craftWav(samples, { channels: 65_535 }), invalid, /not a recording/],
      ["no-channel.wav", craftWav(samples, { channels: 0 }), invalid, /not a recording/],
      ["no-rate.wav", craftWav(samples, { rate: 0 }), invalid, /not a recording/],
      ["rate.wav", craftWav(samples, { rate: 2 ** 32 - 1 }), invalid, /not a recording/],
      ["slow.wav", craftWav(samples, { rate: 1 }), tooLong, /longer than 60 minutes/],
      ["no-bits.wav", craftWav(samples, { bits: 0 }), invalid, /not a recording/],
      ["codec.wav", craftWav(samples, { format: 0xfff0 }), invalid, /not a recording/],
      ["says-more.flac", craftFlac(3, 9 * 16_000), cut, /declares 9.0 s of audio and has 3.0 s/],
      ["says-all.flac", craftFlac(3, 2 ** 36 - 1), tooLong, /longer than 60 minutes/],
    ]);
  });

  test("bombs end at their limits", async () => {
    const day = craftFlac(24 * 3_600, 0);
    assert.ok(day.length > 16e6 && day.length < 17e6);
    await check([
      ["24-hours.flac", day, tooLong, /longer than 60 minutes/],
      ["500-streams.mov", craftMov(samples, { tracks: 500 }), invalid, /more than 64 streams/],
      ["1000-streams.mov", craftMov(samples, { tracks: 1_000 }), invalid, /more than 64 streams/],
      ["edits.mov", craftMov(samples, { edits: 1_000_000 }), invalid, /more than 10000 edits/],
    ]);
    await check([["complaints.aac", brokenAac(20_000), invalid, /not a recording/]]);
  });

  test("valid files are transcribed while hostile files are processed", async () => {
    for (let nth = 0; nth < 5; nth++) await check([[`good-${nth}.wav`, tones, 0, /./]]);
  });
});

test("the jobs leave nothing behind: no file, no process, no spoken word in the log", async (context) => {
  await fixture.isTidy();
  context.diagnostic(
    `decoders: ${watch.peakRss} bytes in all, ${watch.peakCpuSeconds} s of CPU in one`,
  );
  assert.deepEqual(runningDecoders(), []);
  assert.ok(watch.peakRss > 10e6, "it was watched");
  assert.ok(watch.peakRss < 3e9, `${watch.peakRss} bytes`);
  assert.ok(watch.peakCpuSeconds < 20, `${watch.peakCpuSeconds} s`);
  for (const line of log) {
    assert.ok(line.length < 2_000 && line.indexOf("\n") === line.length - 1, line);
    assert.doesNotThrow(() => JSON.parse(line));
    assert.doesNotMatch(line, /script|\\u001b|tenant|\.mp3|127\.0\.0\.1/);
  }
});

async function serveCanary(path: string): Promise<void> {
  fixture.serve(path, (_, response) => {
    canaryCalls++;
    response.end(tones);
  });
}

/** Returns AAC frames without valid content, for each of which the decoder reports an error. */
function brokenAac(frames: number): Buffer {
  const frame = Buffer.concat([Buffer.from("fff1600402bffc", "hex"), Buffer.alloc(14, 0xa7)]);
  return Buffer.concat(Array.from({ length: frames }, () => frame));
}
