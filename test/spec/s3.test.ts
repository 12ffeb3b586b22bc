// §4.7 with media in an S3 bucket: uploads and downloads go directly to the bucket.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { connect, createServer, type Server } from "node:net";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import { DeleteObjectCommand } from "@aws-sdk/client-s3";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { openDatabase } from "../../src/database/database.ts";
import {
  Health,
  HealthCheckResponse_ServingStatus as Status,
} from "../../src/gen/grpc/health/v1/health_pb.ts";
import { createLog } from "../../src/std/log.ts";
import { samplesOfWav, speak } from "../fixtures/flite.ts";
import { openTestBucket, type TestBucket } from "../fixtures/open-test-bucket.ts";
import { openTestS3, type TestS3 } from "../fixtures/open-test-s3.ts";
import { runHlust } from "../fixtures/run-hlust.ts";
import { seedPostgres } from "../fixtures/seed-postgres.ts";
import { until } from "../fixtures/until.ts";
import { pollJob } from "./jobs.ts";
import { openTestService, type TestService } from "./service.ts";
import { draftOf } from "./transcripts.ts";

let s3: TestS3;
let publicDoor: Server;
let bucket: TestBucket;
let service: TestService;
const wav = speak("media of a transcript in a bucket");

/**
 * Returns the settings of a service whose callers reach S3 at a different address from the
 * service's.
 */
function environmentOf({ settings }: TestBucket): Record<string, string> {
  return {
    S3_BUCKET: settings.bucket,
    S3_ENDPOINT: s3.endpoint,
    S3_PUBLIC_ENDPOINT: publicEndpoint(),
    S3_ACCESS_KEY_ID: s3.accessKeyId,
    S3_SECRET_ACCESS_KEY: s3.secretAccessKey,
    HLUST_ENGINE: "scripted",
    HLUST_UPLOAD_BYTES_MAX: "1000000",
  };
}

function publicEndpoint(): string {
  const address = publicDoor.address();
  assert.ok(typeof address === "object" && address !== null);
  return `http://127.0.0.1:${address.port}`;
}

before(async () => {
  s3 = await openTestS3();
  const { hostname: host, port } = new URL(s3.endpoint);
  publicDoor = createServer((socket) => {
    const there = connect({ host, port: Number(port) });
    socket.pipe(there).pipe(socket);
    socket.on("error", () => there.destroy());
    there.on("error", () => socket.destroy());
  }).listen(0, "127.0.0.1");
  await once(publicDoor, "listening");
  bucket = await openTestBucket(s3);
  service = await openTestService(environmentOf(bucket));
});
after(async () => {
  await service[Symbol.asyncDispose]();
  publicDoor.close();
  await s3[Symbol.asyncDispose]();
});

async function newTranscript(): Promise<string> {
  return (await service.call("POST", "/v1alpha1/transcripts", draftOf("Með hljóði"))).json.name;
}
const initUpload = async (resourceName: string): Promise<string> =>
  (await service.call("POST", "/v1alpha1/initupload", { resourceName })).json.storageSignedUrl;
const uriOf = async (name: string): Promise<string> =>
  (await service.call("GET", `/v1alpha1/${name}`)).json.uri;
const put = async (url: string, body: Buffer): Promise<number> =>
  (await fetch(url, { method: "PUT", body })).status;

/**
 * Returns the uri of a transcript once it differs from `old`, since reading does not wait for a
 * slow store.
 */
async function newUriOf(name: string, old = ""): Promise<string> {
  let uri = old;
  const isNew = (text: string) => text !== "" && pathOf(text) !== pathOf(old);
  await until(async () => isNew((uri = await uriOf(name))));
  return uri;
}

/** Returns the database rows of a media id. */
async function recordsOf(mediaId: string): Promise<{ readonly sha256: Buffer | null }[]> {
  const folder = join(service.dataFolder, "postgres");
  const log = createLog("silent");
  await using database = await openDatabase({ url: undefined, folder, log });
  const media = database.db.selectFrom("media").where("id", "=", mediaId);
  return await media.select("sha256").execute();
}

function pathOf(uri: string): string {
  return uri.replace(/[?].*/, "");
}

/** Returns the keys of media, without those that a sweep will delete. */
async function mediaKeys(): Promise<string[]> {
  return (await bucket.keys()).filter((key) => key.startsWith("media/"));
}

async function untilKept(expected: readonly string[]): Promise<void> {
  await until(async () => isDeepStrictEqual(await mediaKeys(), expected));
}

test("media that is uploaded to the bucket belongs to its transcript at the next read, and is served from the bucket", async () => {
  const name = await newTranscript();
  const url = await initUpload(name);
  assert.ok(url.startsWith(`${publicEndpoint()}/${bucket.settings.bucket}/incoming/`));
  assert.equal(new URL(url).searchParams.get("X-Amz-Expires"), "3600");
  assert.doesNotMatch(url, /checksum/i, "a checksum of an empty body would make every PUT fail");
  assert.equal(await uriOf(name), "", "the uri is empty before the upload is complete");
  assert.equal(await put(url, wav), 200);
  const uri = await newUriOf(name);
  assert.ok(uri.startsWith(service.address));

  const sent = await fetch(uri, { redirect: "manual" });
  assert.equal(sent.status, 307);
  assert.ok(sent.headers.get("location")?.startsWith(`${publicEndpoint()}/`));
  assert.equal(sent.headers.get("cache-control"), "no-store");
  const whole = await fetch(uri);
  assert.equal(whole.status, 200);
  assert.equal(whole.headers.get("content-type"), "audio/wav");
  assert.equal(whole.headers.get("content-disposition"), "inline");
  assert.deepEqual(Buffer.from(await whole.arrayBuffer()), wav);
  const part = await fetch(uri, { headers: { range: "bytes=100-199" } });
  assert.equal(part.status, 206);
  assert.deepEqual(Buffer.from(await part.arrayBuffer()), wav.subarray(100, 200));
  assert.equal((await fetch(uri, { headers: { range: `bytes=${wav.length}-` } })).status, 416);

  const head = await fetch(uri, { method: "HEAD", redirect: "manual" });
  assert.equal(head.status, 200);
  assert.equal(head.headers.get("content-length"), `${wav.length}`);
  const etag = head.headers.get("etag") ?? "";
  assert.equal((await fetch(uri, { headers: { "if-none-match": etag } })).status, 304);
  const etagOfS3 = whole.headers.get("etag") ?? "";
  assert.equal((await fetch(uri, { headers: { "if-none-match": etagOfS3 } })).status, 304);
});

test("media in the bucket is described and hashed like other uploads", async () => {
  const name = await newTranscript();
  await put(await initUpload(name), wav);
  const uri = await newUriOf(name);
  const metadata = async () => (await service.call("GET", `/v1alpha1/${name}`)).json.metadata;
  await until(async () => (await metadata()).waveformUri !== "");
  const { recordingDuration, fileType, waveformUri } = await metadata();
  const samples = samplesOfWav(wav).length;
  assert.ok(Math.abs(Number.parseFloat(recordingDuration) - samples / 16_000) < 0.001);
  assert.equal(fileType, "AUDIO");
  const waveform = JSON.parse(await (await fetch(waveformUri)).text());
  assert.equal(waveform.length, Math.ceil(samples / 800));
  const media = await recordsOf(pathOf(uri).slice(-36));
  assert.deepEqual(media, [{ sha256: createHash("sha256").update(wav).digest() }]);
});

test("a file that is not a recording is never served as a web page", async () => {
  const name = await newTranscript();
  const page = Buffer.from("<script>alert(1)</script>");
  const headers = { "content-type": "text/html" };
  await fetch(await initUpload(name), { method: "PUT", body: page, headers });
  const answer = await fetch(await newUriOf(name));
  assert.equal(answer.headers.get("content-type"), "application/octet-stream");
  assert.equal(answer.headers.get("content-disposition"), "attachment");
  assert.deepEqual(Buffer.from(await answer.arrayBuffer()), page);
});

test("a second PUT changes nothing; a PUT to a new URL replaces the media", async () => {
  const name = await newTranscript();
  const url = await initUpload(name);
  await put(url, wav);
  const uri = await newUriOf(name);
  await put(url, Buffer.from("something else"));
  assert.equal(pathOf(await uriOf(name)), pathOf(uri));
  assert.deepEqual(Buffer.from(await (await fetch(uri)).arrayBuffer()), wav);
  await put(await initUpload(name), Buffer.from("a new recording"));
  const fresh = await newUriOf(name, uri);
  assert.equal(await (await fetch(fresh)).text(), "a new recording");
  assert.equal((await fetch(uri)).status, 404);
  const oldId = pathOf(uri).slice(-36);
  await until(async () => !(await bucket.keys()).includes(`media/${oldId}`));
});

test("a URL works only for its own method, resource and time; oversized media is not kept", async () => {
  const name = await newTranscript();
  const url = await initUpload(name);
  const early = /(?<=X-Amz-Date=)\d{8}/;
  const rows: [method: string, url: string][] = [
    ["GET", url],
    ["DELETE", url],
    ["PUT", url.replace(/(?<=incoming\/).{8}/, "00000000")],
    ["PUT", url.replace("/incoming/", "/media/")],
    ["PUT", url.replace("X-Amz-Expires=3600", "X-Amz-Expires=7200")],
    ["PUT", url.replace(early, (day) => `${Number(day) - 1}`)],
    ["PUT", url.replace(/[?].*/, "")],
  ];
  for (const [method, target] of rows) {
    const answer = await fetch(target, { method, ...(method === "PUT" && { body: "x" }) });
    assert.ok(
      answer.status === 403 || answer.status === 400,
      `${answer.status} ${method} ${target}`,
    );
    await answer.body?.cancel();
  }
  await put(url, Buffer.alloc(1_000_001));
  const isKept = async () => (await bucket.keys()).some((key) => url.includes(key));
  await until(async () => (await uriOf(name)) === "" && !(await isKept()));
  await put(url, wav);
  assert.notEqual(await newUriOf(name), "");
});

test("a job reads an upload from the bucket, and its transcript keeps the media", async () => {
  const { json: upload } = await service.call("POST", "/v1alpha1/initupload", {});
  const submit = async () =>
    await service.call("POST", "/v1alpha1/transcriptjob:submit", {
      metadata: { languageCode: "en-US", fileType: "AUDIO" },
      useUri: false,
      uri: upload.resourceName,
    });
  assert.equal((await submit()).status, 400, "the upload has not arrived yet");
  await put(upload.storageSignedUrl, wav);
  const { status, json: job } = await submit();
  assert.equal(status, 200);
  const { last } = await pollJob(service, job.name);
  assert.equal(last.state, "SUCCESS");
  const uri = await uriOf(last.transcript);
  assert.deepEqual(Buffer.from(await (await fetch(uri)).arrayBuffer()), wav);
  const media = await recordsOf(pathOf(uri).slice(-36));
  assert.deepEqual(media, [{ sha256: createHash("sha256").update(wav).digest() }]);
});

test("deleting a transcript deletes its media from the bucket", async () => {
  const before = await mediaKeys();
  const name = await newTranscript();
  await put(await initUpload(name), wav);
  const uri = await newUriOf(name);
  await untilKept([...before, `media/${pathOf(uri).slice(-36)}`].toSorted());
  assert.equal((await service.call("DELETE", `/v1alpha1/${name}`)).status, 200);
  await untilKept(before);
  assert.equal((await fetch(uri)).status, 404);
});

test("hlust fsck checks the bucket while the service runs", async () => {
  const environment = { ...environmentOf(bucket), HLUST_DATA: service.dataFolder };
  const sound = await runHlust(["fsck"], environment);
  assert.equal(sound.code, 0, sound.out + sound.errors);
  const name = await newTranscript();
  await put(await initUpload(name), wav);
  const id = pathOf(await newUriOf(name)).slice(-36);
  const target = { Bucket: bucket.settings.bucket, Key: `media/${id}` };
  await s3.client.send(new DeleteObjectCommand(target));
  const damaged = await runHlust(["fsck"], environment);
  assert.equal(damaged.code, 1, damaged.errors);
  assert.match(damaged.out, new RegExp(`^MEDIA_MISSING media/${id}: .*\n1 found: `));
  assert.equal((await service.call("DELETE", `/v1alpha1/${name}`)).status, 200);
});

test("without presigned URLs, all bytes pass through the service", async () => {
  const own = await openTestBucket(s3);
  await using hidden = await openTestService({
    ...environmentOf(own),
    HLUST_S3_PRESIGN: "false",
    S3_PREFIX: "hlust",
  });
  const { json } = await hidden.call("POST", "/v1alpha1/transcripts", draftOf("Falið"));
  const resourceName: string = json.name;
  const begun = await hidden.call("POST", "/v1alpha1/initupload", { resourceName });
  const url: string = begun.json.storageSignedUrl;
  assert.ok(url.startsWith(hidden.address));
  assert.equal(await put(url, wav), 200);
  assert.equal(await put(url, wav), 409);
  const uri: string = (await hidden.call("GET", `/v1alpha1/${resourceName}`)).json.uri;
  const part = await fetch(uri, { headers: { range: "bytes=100-199" }, redirect: "manual" });
  assert.equal(part.status, 206);
  assert.deepEqual(Buffer.from(await part.arrayBuffer()), wav.subarray(100, 200));
  assert.match(
    (await own.keys()).join(),
    /^hlust\/hlust-archive,hlust\/hlust-pulse,hlust\/media\/[0-9a-f-]{36}$/,
  );

  const waiting = await newTranscript();
  const waitingUrl = await initUpload(waiting);
  await s3.killObjects();
  try {
    assert.equal(await uriOf(waiting), "", "a transcript is read whether or not S3 answers");
    assert.equal(await put(waitingUrl, wav), 503);
    const away = await fetch(uri);
    assert.equal(away.status, 503);
    assert.ok(away.headers.get("retry-after"));
    assert.match(await away.text(), /STORAGE_UNAVAILABLE/);
    assert.equal((await hidden.call("GET", `/v1alpha1/${resourceName}`)).status, 200);
  } finally {
    await s3.startObjects();
  }
  assert.deepEqual(Buffer.from(await (await fetch(uri)).arrayBuffer()), wav);
});

test("an unresponsive bucket stops jobs, but neither live speech nor transcripts", async () => {
  const ask = async (use = "") => {
    const { status, json } = await service.call("GET", `/readyz${use && `?for=${use}`}`);
    return { status, parts: json.parts };
  };
  for (const use of ["", "speech", "jobs", "transcripts"])
    assert.equal((await ask(use)).status, 200);
  const health = createClient(Health, createGrpcTransport({ baseUrl: service.address }));
  const halted = s3.halt();
  try {
    await until(async () => (await ask()).status === 503);
    const { parts } = await ask("jobs");
    assert.deepEqual(parts.media, { ready: false, reason: "no answer within 2 s" });
    for (const [uses, status] of [
      ["speech", 200],
      ["transcripts", 200],
      ["speech,transcripts", 200],
      ["jobs", 503],
      ["speech,jobs", 503],
    ] as const) {
      assert.equal((await ask(uses)).status, status, uses);
    }
    assert.deepEqual(Object.keys((await ask("speech")).parts), ["database", "engines"]);
    for (const [name, status] of [
      ["", Status.NOT_SERVING],
      ["hlust.speech.v2beta1.Speech", Status.SERVING],
      ["google.cloud.speech.v1.Speech", Status.SERVING],
      ["lr.speech.v2beta1.Speech", Status.SERVING],
      ["hlust.transcripts.v1alpha1.Transcripts", Status.SERVING],
    ] as const) {
      assert.equal((await health.check({ service: name })).status, status, name);
    }
  } finally {
    halted.resume();
  }
  await until(async () => (await ask()).status === 200);
});

test("a start without its bucket fails with the reason", async () => {
  const { S3_PUBLIC_ENDPOINT: _, ...settings } = environmentOf(bucket);
  const environment = { ...settings, HLUST_PORT: "0", S3_BUCKET: "no-such-bucket" };
  const ended = await runHlust(["serve"], { ...environment, HLUST_DATA: await newDataFolder() });
  assert.equal(ended.code, 1, ended.errors);
  assert.match(ended.errors, /^hlust: .*no-such-bucket/m);
});

async function newDataFolder(): Promise<string> {
  const folder = join(service.dataFolder, "another");
  await seedPostgres(join(folder, "postgres"));
  return folder;
}
