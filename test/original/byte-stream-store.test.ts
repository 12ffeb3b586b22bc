// Content over google.bytestream.ByteStream, with media in an S3 bucket, and with a storage limit.
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { status } from "@grpc/grpc-js";
import { openDatabase, type Database } from "../../src/database/database.ts";
import { createLog } from "../../src/std/log.ts";
import { wavHeader } from "../../src/std/wav.ts";
import { joined, samplesOfWav, silence, speak } from "../fixtures/flite.ts";
import { openTestBucket, type TestBucket } from "../fixtures/open-test-bucket.ts";
import { openTestS3 } from "../fixtures/open-test-s3.ts";
import { until } from "../fixtures/until.ts";
import { openTestService, type TestService } from "../spec/service.ts";
import { readContent, statusOf, writeContent, writeMessages } from "./content-client.ts";
import { openOriginalClient, type Message, type OriginalClient } from "./original-client.ts";

let service: TestService;
let bucket: TestBucket;
let database: Database;
let transcripts: OriginalClient;
let blobs: OriginalClient;
/** Speech and silence, longer than one part of a multipart upload. */
let recording: Buffer;
const opened = new AsyncDisposableStack();

before(async () => {
  const s3 = opened.use(await openTestS3());
  bucket = await openTestBucket(s3);
  service = opened.use(
    await openTestService({
      HLUST_ENGINE: "scripted",
      S3_BUCKET: bucket.settings.bucket,
      S3_ENDPOINT: s3.endpoint,
      S3_ACCESS_KEY_ID: s3.accessKeyId,
      S3_SECRET_ACCESS_KEY: s3.secretAccessKey,
    }),
  );
  const file = "lr/transcript/v1alpha1/transcript.proto";
  const name = "lr.transcript.v1alpha1.TranscriptService";
  transcripts = opened.use(openOriginalClient(file, name, service));
  const ofBytes = "google/bytestream/bytestream.proto";
  blobs = opened.use(openOriginalClient(ofBytes, "google.bytestream.ByteStream", service));
  const folder = join(service.dataFolder, "postgres");
  const log = createLog("silent");
  database = opened.use(await openDatabase({ url: undefined, folder, log }));
  recording = recordingOf(280_000);
});
after(() => opened.disposeAsync());

/** Returns a WAV file of speech and this much silence. */
function recordingOf(silenceMs: number): Buffer {
  const spoken = samplesOfWav(speak("the council meets on the first monday of the month"));
  const samples = Buffer.from(joined(spoken, silence(silenceMs)).buffer);
  const header = wavHeader({ sampleRateHertz: 16_000, dataBytes: samples.length });
  return Buffer.concat([header, samples]);
}

async function submit(): Promise<{ name: string; blob: string }> {
  const metadata = { file_type: "AUDIO", language_code: "is-IS" };
  const job = await transcripts.call("SubmitTranscriptJob", { metadata });
  return { name: job.name, blob: `blob/${job.transcript}` };
}

async function endOf(name: string): Promise<Message> {
  let job: Message;
  await until(async () => {
    job = await transcripts.call("GetTranscriptJob", { name });
    return !["PROCESSING", "WAITING_FOR_CONTENT"].includes(job.state);
  }, 60_000);
  return job;
}

test("content that breaks off continues at its committed size in the bucket, and is transcribed", async () => {
  const { name, blob } = await submit();
  const { call, answer } = blobs.send("Write");
  const to = 8_800_000;
  for (const message of writeMessages(blob, { of: recording, to, finish: false })) {
    call.write(message);
  }
  await until(async () => (await statusOf(blobs, blob))[0] > 0);
  call.cancel();
  await assert.rejects(answer);
  await until(async () => {
    const { rows } = await database.pool.query("select from upload where holder is not null");
    return rows.length === 0;
  });
  const [kept, isComplete] = await statusOf(blobs, blob);
  assert.ok(kept > 0 && kept <= to && !isComplete, `${kept}`);
  const rest = writeMessages(blob, { of: recording, from: kept });
  assert.equal((await writeContent(blobs, rest)).committed_size, recording.length);
  assert.deepEqual(await statusOf(blobs, blob), [recording.length, true]);
  const job = await endOf(name);
  assert.deepEqual([job.state, `blob/${job.transcript}`], ["SUCCESS", blob]);
  assert.ok((await readContent(blobs, blob)).equals(recording));
  const range = { read_offset: 8_500_000, read_limit: 100_000 };
  const part = await readContent(blobs, blob, range);
  assert.ok(part.equals(recording.subarray(8_500_000, 8_600_000)));
  const { rows } = await database.pool.query<{ id: string }>("select id from media");
  assert.equal(rows.length, 1);
  assert.ok((await bucket.keys()).some((key) => key.includes(rows[0]?.id ?? "-")));
  assert.deepEqual(await bucket.unfinished(), []);
});

test("content of a job that is cancelled leaves nothing in the bucket", async () => {
  const keys = await bucket.keys();
  const { name, blob } = await submit();
  const part = writeMessages(blob, { of: recording, to: 8_800_000, finish: false });
  assert.equal((await writeContent(blobs, part)).committed_size, 8_800_000);
  assert.notDeepEqual([await bucket.keys(), await bucket.unfinished()], [keys, []]);
  assert.equal((await service.call("POST", `/v1alpha1/${name}:cancel`, {})).status, 200);
  await until(async () => (await bucket.unfinished()).length === 0);
  await until(async () => (await bucket.keys()).join() === keys.join());
});

test("content beyond the account's storage limit is refused, and continues once there is room", async () => {
  const limit = async (bytes: number | undefined): Promise<void> => {
    const limits = JSON.stringify(bytes === undefined ? {} : { storedBytes: bytes });
    await database.pool.query("update account set limits = $1", [limits]);
  };
  const first = await submit();
  await writeContent(blobs, writeMessages(first.blob, { of: recording, from: 0 }));
  const { rows } = await database.pool.query("select sum(size_bytes)::int as bytes from media");
  const stored: number = rows[0].bytes;
  const { name, blob } = await submit();
  const content = recordingOf(5_000);
  await limit(stored + 150_000);
  const refusal = {
    code: status.RESOURCE_EXHAUSTED,
    message: new RegExp(
      `can store ${stored + 150_000} bytes of media and drafts, which this would exceed`,
    ),
  };
  const unfinished = writeMessages(blob, { of: content, finish: false });
  await assert.rejects(writeContent(blobs, unfinished), refusal);
  const [kept, isComplete] = await statusOf(blobs, blob);
  assert.ok(kept <= 150_000 && !isComplete, `${kept}`);
  const again = writeMessages(blob, { of: content, from: kept });
  await assert.rejects(writeContent(blobs, again), refusal);
  assert.equal((await transcripts.call("GetTranscriptJob", { name })).state, "WAITING_FOR_CONTENT");
  await limit(stored);
  const [left] = await statusOf(blobs, blob);
  const none = writeMessages(blob, { of: content, from: left });
  await assert.rejects(writeContent(blobs, none), { code: status.RESOURCE_EXHAUSTED });
  await limit(undefined);
  const [from] = await statusOf(blobs, blob);
  await writeContent(blobs, writeMessages(blob, { of: content, from }));
  assert.equal((await endOf(name)).state, "SUCCESS");
  assert.ok((await readContent(blobs, blob)).equals(content));
});
