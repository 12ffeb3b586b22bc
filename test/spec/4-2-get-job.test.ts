// §4.2: get a transcript job; §3: its states.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pollJob, submit, textOf } from "./jobs.ts";
import { openMediaHost, type MediaHost } from "./media-host.ts";
import { speak } from "../fixtures/flite.ts";
import { openTestService, pcmOf, type TestService } from "./service.ts";
import { secondsOf } from "./stream.ts";

const sentences = [
  "the council meets on the first monday of the month",
  "the meeting will begin at nine in the morning",
  "my brother lives in a small town",
];
let service: TestService;
let host: MediaHost;
/** The three sentences with 1.2 s of silence after each, as WAV. */
let talk: Buffer;

before(async () => {
  const wavs = sentences.map((sentence) => speak(sentence));
  const silence = Buffer.alloc(38_400);
  talk = wavOf(Buffer.concat(wavs.flatMap((wav) => [pcmOf(wav), silence])));
  const m4a = encoded(talk, "talk.m4a");
  host = await openMediaHost({
    "/talk.wav": talk,
    "/talk.flac": encoded(talk, "talk.flac"),
    "/talk.mp3": encoded(talk, "talk.mp3", ["-b:a", "128k"]),
    "/talk.mp4": encoded(talk, "talk.mp4", [
      "-f",
      "lavfi",
      "-i",
      "color=size=64x64:rate=5",
      "-shortest",
    ]),
    "/silent.wav": wavOf(Buffer.alloc(96_000)),
    "/long.wav": wavOf(Buffer.alloc(32_000 * 46)),
    "/empty": Buffer.alloc(0),
    "/page.html": Buffer.from("<!doctype html><title>Not found</title>"),
    "/list.m3u8": Buffer.from("#EXTM3U\n#EXTINF:1,\ntalk.mp3\n"),
    "/cut.m4a": m4a.subarray(0, m4a.length >> 1),
    "/short": (_, response) => {
      response.writeHead(200, { "content-length": talk.length });
      response.write(talk.subarray(0, 1000), () => response.destroy());
    },
    "/gone": (_, response) => {
      response.writeHead(410).end();
    },
    "/away": (_, response) => {
      response.writeHead(302, { location: "http://10.1.2.3/secret.wav" }).end();
    },
  });
  service = await openTestService({
    HLUST_ENGINE_PROCESSES: "2",
    HLUST_RECORDING_SECONDS_MAX: "45",
  });
});
after(async () => {
  await service[Symbol.asyncDispose]();
  await host[Symbol.asyncDispose]();
});

function wavOf(samples: Buffer): Buffer {
  const header = Buffer.from(speak("a").subarray(0, 44));
  header.writeUInt32LE(36 + samples.length, 4);
  header.writeUInt32LE(samples.length, 40);
  return Buffer.concat([header, samples]);
}

function encoded(wav: Buffer, name: string, more: readonly string[] = []): Buffer {
  const folder = mkdtempSync(join(tmpdir(), "hlust-media-"));
  try {
    writeFileSync(join(folder, "in.wav"), wav);
    const args = ["-v", "error", "-i", "in.wav", ...more, "-y", name];
    execFileSync("ffmpeg", args, { cwd: folder });
    return readFileSync(join(folder, name));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

test("a job ends in SUCCESS, and its transcript has text, times and metadata", async () => {
  const submitted = await submit(service, `${host.address}/talk.flac`, { subject: "Council" });
  const { last, seen } = await pollJob(service, submitted.json.name);
  let percent = 0;
  for (const job of seen) {
    assert.ok(job.progressPercent >= percent, "progress never falls");
    assert.ok(job.state === "SUCCESS" || job.progressPercent <= 99);
    percent = job.progressPercent;
    assert.equal(job.name, submitted.json.name);
    assert.equal(job.startTime, submitted.json.startTime);
    assert.ok(Date.parse(job.lastUpdatedTime) >= Date.parse(job.startTime));
    assert.equal("transcript" in job, job.state === "SUCCESS");
    assert.equal("error" in job, false);
  }
  assert.equal(last.state, "SUCCESS");
  assert.equal(last.progressPercent, 100);
  const duration = secondsOf(last.transcriptMetadata.recordingDuration);
  assert.ok(Math.abs(duration - (talk.length - 44) / 32_000) < 0.2, `${duration} s`);

  const { json: transcript } = await service.call("GET", `/v1alpha1/${last.transcript}`);
  assert.equal(textOf(transcript), sentences.join(" "));
  assert.equal(transcript.segments.length, 3);
  assert.equal(transcript.metadata.subject, "Council");
  assert.equal(transcript.metadata.originalUri, `${host.address}/talk.flac`);
  assert.equal(transcript.metadata.recordingDuration, last.transcriptMetadata.recordingDuration);
  assert.equal(transcript.metadata.dataSource, "URI");
  const { kind, author, authorName } = transcript.version;
  assert.deepEqual([kind, author, authorName], ["RECOGNIZED", "", ""]);
  assert.equal(transcript.metadata.originalCharLength, sentences.join(" ").length);
  let before = 0;
  for (const segment of transcript.segments) {
    assert.ok(secondsOf(segment.startTime) >= before);
    before = secondsOf(segment.startTime);
    for (const { startTime, endTime } of segment.words) {
      assert.ok(secondsOf(startTime) >= before && secondsOf(endTime) > secondsOf(startTime));
      before = secondsOf(endTime);
    }
    assert.ok(secondsOf(segment.endTime) >= before);
    before = secondsOf(segment.endTime);
  }
  assert.ok(before <= duration);

  // The media of the job becomes the media of the transcript.
  const media = await fetch(transcript.uri, { headers: { range: "bytes=0-9" } });
  assert.equal(media.status, 206);
  assert.equal(media.headers.get("content-type"), "audio/flac");
  await media.body?.cancel();
});

test("compressed audio and the audio of a video are transcribed", async () => {
  for (const [file, fileType] of [
    ["talk.mp3", "AUDIO"],
    ["talk.mp4", "VIDEO"],
  ]) {
    const { json } = await submit(service, `${host.address}/${file}`, { fileType });
    const { last } = await pollJob(service, json.name);
    assert.equal(last.state, "SUCCESS");
    const { json: transcript } = await service.call("GET", `/v1alpha1/${last.transcript}`);
    // A word may be wrong because of lossy compression.
    const recognized = new Set(textOf(transcript).split(" "));
    const said = sentences.join(" ").split(" ");
    const found = said.filter((word) => recognized.has(word)).length;
    assert.ok(found / said.length > 0.75, `${file}: ${textOf(transcript)}`);
  }
});

test("silence ends in SUCCESS with an empty transcript", async () => {
  const { json } = await submit(service, `${host.address}/silent.wav`);
  const { last } = await pollJob(service, json.name);
  assert.equal(last.state, "SUCCESS");
  const { json: transcript } = await service.call("GET", `/v1alpha1/${last.transcript}`);
  assert.deepEqual(transcript.segments, []);
  assert.equal(transcript.metadata.recordingDuration, "3s");
});

test("a job with media that cannot be transcribed ends as ERROR with a reason that helps the caller", async () => {
  const rows: [path: string, message: RegExp][] = [
    ["/missing.mp3", /404/],
    ["/gone", /410/],
    ["/empty", /empty/i],
    ["/page.html", /web page/i],
    ["/list.m3u8", /not (audio or video|media)|playlist/i],
    ["/cut.m4a", /cut short|truncated|broken|not (audio or video|media)/i],
    ["/short", /broke|cut short|incomplete/i],
    ["/away", /not public|may not be reached/i],
    ["/long.wav", /^the recording is longer than 45 seconds, which is the maximum$/],
  ];
  const jobs = await Promise.all(
    rows.map(async ([path]) => (await submit(service, `${host.address}${path}`)).json.name),
  );
  for (const [at, [path, message]] of rows.entries()) {
    const { last } = await pollJob(service, jobs[at], 90);
    assert.equal(last.state, "ERROR", path);
    assert.match(last.error.message, message, path);
    assert.equal(typeof last.error.code, "number");
    assert.equal("transcript" in last, false);
    assert.ok(last.progressPercent < 100);
  }
  const { json } = await submit(service, `${host.address}/talk.wav`);
  assert.equal((await pollJob(service, json.name)).last.state, "SUCCESS", "the next job works");
});

test("a cancelled job ends as CANCELLED, with an error (extension)", async () => {
  const { json } = await submit(service, `${host.address}/talk.wav`);
  const cancelled = await service.call("POST", `/v1alpha1/${json.name}:cancel`, {});
  assert.equal(cancelled.status, 200);
  assert.equal(cancelled.json.state, "CANCELLED");
  assert.equal(cancelled.json.error.code, 1);
  assert.equal((await pollJob(service, json.name)).last.state, "CANCELLED");
});

test("jobs are listed, newest first (extension)", async () => {
  const first = await service.call("GET", "/v1alpha1/transcriptjob?pageSize=2");
  assert.equal(first.json.jobs.length, 2);
  const [newest, next] = first.json.jobs;
  assert.ok(newest.startTime >= next.startTime);
  const query = `?pageSize=2&pageToken=${encodeURIComponent(first.json.nextPageToken)}`;
  const second = await service.call("GET", `/v1alpha1/transcriptjob${query}`);
  assert.ok(second.json.jobs[0].startTime <= next.startTime);
  assert.equal((await service.call("GET", "/v1alpha1/transcriptjob?pageToken=x")).status, 400);
});

test("jobs are listed with a filter", async () => {
  const list = (filter: string) =>
    service.call("GET", `/v1alpha1/transcriptjob?filter=${encodeURIComponent(filter)}`);
  const { json } = await list('state = "CANCELLED"');
  assert.deepEqual(
    new Set(json.jobs.map(({ state }: { state: string }) => state)),
    new Set(["CANCELLED"]),
  );
  assert.deepEqual((await list('metadata.keywords CONTAINS ["none"]')).json, {
    jobs: [],
    nextPageToken: "",
  });
  const rows: [filter: string, message: RegExp][] = [
    ['state = "FAILED"', /"CANCELLED" at column 9, found/],
    [
      'state = "ERROR" OR state = "CANCELLED"',
      /expected AND or the end of the filter at column 17/,
    ],
    ["subject CONTAINS x", /metadata.keywords or state at column 1/],
    [`metadata.subject CONTAINS "${"x".repeat(5000)}"`, /4096/],
  ];
  for (const [filter, message] of rows) {
    const { status, json: refused } = await list(filter);
    assert.equal(status, 400, filter);
    assert.match(refused.message, message, filter);
  }
});

test("a job of another account returns 404", async () => {
  const id = "0190a0a0-0000-7000-8000-000000000000";
  for (const name of [id, "x", "%2e%2e", `${id}%2F`, "a".repeat(8_000)]) {
    const { status, json } = await service.call("GET", `/v1alpha1/transcriptjob/${name}`);
    assert.equal(status, 404, name);
    assert.equal(json.error.status, "NOT_FOUND");
  }
  assert.equal((await service.call("GET", `/v1alpha/transcriptjob/${id}`)).status, 404);
  assert.equal((await service.call("GET", `/v1alpha1/transcriptjob/${id}?verbose=1`)).status, 400);
  assert.equal((await service.call("PUT", `/v1alpha1/transcriptjob/${id}`)).status, 405);
});
