// §4.7 and docs/api.md, Uploads: the media facts that transcripts show once their media is
// described.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { noise } from "../fixtures/flite.ts";
import { toneWav, wavOf } from "../fixtures/jobs-fixture.ts";
import { until } from "../fixtures/until.ts";
import { pollJob, submit } from "./jobs.ts";
import { openMediaHost, type MediaHost } from "./media-host.ts";
import { openTestService, type Answer, type TestService } from "./service.ts";
import { draftOf } from "./transcripts.ts";

let service: TestService;
let host: MediaHost;
const samples = noise(2_730, 20_000);
const wav = wavOf(samples);
let mp3: Buffer;
let video: Buffer;

before(async () => {
  service = await openTestService({ HLUST_ENGINE: "scripted", HLUST_LOG: "silent" });
  const sound = ["-f", "lavfi", "-i", "sine=f=400:r=16000:d=2"];
  const pictures = ["-f", "lavfi", "-i", "testsrc=size=64x64:rate=5:d=2"];
  mp3 = made("a.mp3", ...sound);
  video = made("a.mp4", ...pictures, ...sound, "-c:v", "mpeg4");
  host = await openMediaHost({ "/a.wav": toneWav([10, 20, 30]), "/a.mp4": video });
});
after(async () => {
  await host[Symbol.asyncDispose]();
  await service[Symbol.asyncDispose]();
});

function made(name: string, ...parameters: string[]): Buffer {
  const file = join(service.dataFolder, name);
  execFileSync("ffmpeg", ["-nostdin", "-v", "error", "-y", ...parameters, file]);
  return readFileSync(file);
}

async function create(fileType: string): Promise<string> {
  const draft = draftOf("Með hljóði", { fileType });
  return (await service.call("POST", "/v1alpha1/transcripts", draft)).json.name;
}

async function upload(name: string, bytes: Buffer): Promise<void> {
  const begun = await service.call("POST", "/v1alpha1/initupload", { resourceName: name });
  const { status } = await fetch(begun.json.storageSignedUrl, { method: "PUT", body: bytes });
  assert.equal(status, 200);
}

const get = async (name: string): Promise<Answer["json"]> =>
  (await service.call("GET", `/v1alpha1/${name}`)).json;

/** Returns the transcript once its media is described. */
async function described(name: string): Promise<Answer["json"]> {
  await until(async () => (await get(name)).metadata.waveformUri !== "");
  return await get(name);
}

/**
 * Computes a waveform by its definition: the minimum and maximum of every 800 samples, in 8 bits.
 */
function pixelsOf(recording: Int16Array): number[] {
  const pixels: number[] = [];
  for (let at = 0; at < recording.length; at += 800) {
    const part = recording.subarray(at, at + 800);
    for (const value of [Math.min(...part), Math.max(...part)]) {
      pixels.push(Math.trunc(value / 256) + 0);
    }
  }
  return pixels;
}

describe("an uploaded recording", () => {
  test("has its duration, and the waveform of its samples", async () => {
    const name = await create("AUDIO");
    const before = await get(name);
    assert.equal(before.metadata.recordingDuration, null);
    assert.equal(before.metadata.waveformUri, "");
    await upload(name, wav);
    const { metadata } = await described(name);
    assert.equal(metadata.recordingDuration, "2.730s");
    const answer = await fetch(metadata.waveformUri);
    assert.equal(answer.status, 200);
    assert.equal(answer.headers.get("content-type"), "application/json");
    assert.deepEqual(await answer.json(), {
      version: 2,
      channels: 1,
      sample_rate: 16_000,
      samples_per_pixel: 800,
      bits: 8,
      length: 55,
      data: pixelsOf(samples),
    });
    const listed = await service.call("GET", "/v1alpha1/transcripts");
    const shown = listed.json.transcripts.find((each: { name: string }) => each.name === name);
    assert.equal(shown.metadata.recordingDuration, "2.730s");
    assert.equal((await fetch(shown.metadata.waveformUri)).status, 200);
  });

  test("gets its type from its streams, whatever type was declared", async () => {
    const rows: [name: string, bytes: Buffer, declared: string, shown: string][] = [
      ["MP3", mp3, "AUDIO", "AUDIO"],
      ["MP3 declared as VIDEO", mp3, "VIDEO", "AUDIO"],
      ["MP4", video, "VIDEO", "VIDEO"],
      ["MP4 declared as AUDIO", video, "AUDIO", "VIDEO"],
    ];
    for (const [what, bytes, declared, shown] of rows) {
      const name = await create(declared);
      await upload(name, bytes);
      const { metadata, version } = await described(name);
      assert.equal(metadata.fileType, shown, what);
      assert.match(metadata.recordingDuration, /^2(\.0\d\d)?s$/, what);
      assert.equal(version.parent, "", "this creates no version");
    }
  });

  test("is replaced with all its facts by the next upload; a file that is not a recording has none", async () => {
    const name = await create("AUDIO");
    await upload(name, video);
    const old = (await described(name)).metadata;
    await upload(name, wav);
    const replaced = await get(name);
    assert.notEqual(replaced.metadata.fileType, "VIDEO", "the facts of the old media are gone");
    assert.equal((await fetch(old.waveformUri)).status, 404);
    assert.equal((await described(name)).metadata.recordingDuration, "2.730s");

    const text = Buffer.from("not a sound at all");
    await upload(name, text);
    const other = await create("AUDIO");
    await upload(other, wav);
    await described(other);
    const { uri, metadata } = await get(name);
    assert.deepEqual(
      [metadata.recordingDuration, metadata.waveformUri, metadata.fileType],
      [null, "", "AUDIO"],
    );
    assert.deepEqual(Buffer.from(await (await fetch(uri)).arrayBuffer()), text);
  });
});

describe("a job's recording", () => {
  test("is described in the commit in which the job succeeds", async () => {
    const submitted = await submit(service, `${host.address}/a.wav`);
    const { last } = await pollJob(service, submitted.json.name);
    assert.equal(last.state, "SUCCESS", JSON.stringify(last));
    const { metadata } = await get(last.transcript);
    assert.equal(metadata.recordingDuration, last.transcriptMetadata.recordingDuration);
    assert.equal(metadata.fileType, "AUDIO");
    const recording = toneWav([10, 20, 30]);
    const samples = new Int16Array(Uint8Array.from(recording.subarray(44)).buffer);
    const waveform: Answer["json"] = await (await fetch(metadata.waveformUri)).json();
    assert.deepEqual(waveform.data, pixelsOf(samples));
  });

  test("is transcribed even with a wrong type, and the transcript has the true type", async () => {
    const submitted = await submit(service, `${host.address}/a.mp4`, { fileType: "AUDIO" });
    const { last } = await pollJob(service, submitted.json.name);
    assert.equal(last.state, "SUCCESS", JSON.stringify(last));
    assert.equal(last.transcriptMetadata.fileType, "AUDIO", "a job shows what was submitted");
    assert.equal((await get(last.transcript)).metadata.fileType, "VIDEO");
  });
});

describe("a waveform URL", () => {
  let name: string;
  let url: string;
  before(async () => {
    name = await create("AUDIO");
    await upload(name, wav);
    url = (await described(name)).metadata.waveformUri;
  });

  test("supports HEAD and If-None-Match", async () => {
    const whole = await fetch(url);
    const etag = whole.headers.get("etag") ?? "";
    assert.match(etag, /^"[^"]+"$/);
    assert.equal((await whole.text()).startsWith('{"version":2,'), true);
    const head = await fetch(url, { method: "HEAD" });
    assert.equal(head.status, 200);
    assert.equal(head.headers.get("etag"), etag);
    assert.equal(head.headers.get("content-type"), "application/json");
    assert.equal(await head.text(), "");
    const known = await fetch(url, { headers: { "if-none-match": etag } });
    assert.equal(known.status, 304);
    assert.equal(await known.text(), "");
    assert.equal((await fetch(url, { headers: { "if-none-match": '"x"' } })).status, 200);
  });

  test("works only as it was signed, until the media is deleted", async () => {
    const { uri } = await get(name);
    const rows: [target: string, method: string, status: number][] = [
      [url.replace(/[?].*/, ""), "GET", 403],
      [url.replace(/.$/, (last) => (last === "A" ? "B" : "A")), "GET", 403],
      [url.replace(/(?<=expires=)\d+/, (seconds) => `${Number(seconds) + 1}`), "GET", 403],
      [url.replace("/waveforms", ""), "GET", 403],
      [uri.replace("/media/", "/media/waveforms/"), "GET", 403],
      [url, "PUT", 403],
      [url, "DELETE", 405],
      [url, "GET", 200],
    ];
    for (const [target, method, status] of rows) {
      const answer = await fetch(target, method === "PUT" ? { method, body: "x" } : { method });
      assert.equal(answer.status, status, `${method} ${target}`);
      await answer.body?.cancel();
    }
    assert.equal((await service.call("DELETE", `/v1alpha1/${name}`)).status, 200);
    const gone = await fetch(url);
    assert.equal(gone.status, 404);
    assert.match(await gone.text(), /NOT_FOUND/);
  });
});
