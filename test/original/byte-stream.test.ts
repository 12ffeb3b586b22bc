// Clients of the original service submit jobs without content, and send it over
// google.bytestream.ByteStream.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { status } from "@grpc/grpc-js";
import { addAccount, addApiKey } from "../fixtures/auth-fixture.ts";
import { speak } from "../fixtures/flite.ts";
import { until } from "../fixtures/until.ts";
import { openDatabase, type Database } from "../../src/database/database.ts";
import { createLog } from "../../src/std/log.ts";
import { newId } from "../../src/std/ids.ts";
import { join } from "node:path";
import { openTestService, type TestService } from "../spec/service.ts";
import {
  readContent,
  statusOf,
  writeContent,
  writeMessages,
  type WrittenContent,
} from "./content-client.ts";
import {
  openOriginalClient,
  type Message,
  type OpenStream,
  type OriginalClient,
} from "./original-client.ts";

const bytesMax = 2_000_000;
let service: TestService;
let transcripts: OriginalClient;
let blobs: OriginalClient;
let stranger: OriginalClient;
let database: Database;
let speech: Buffer;
/** Content that is longer than what a node gathers before it writes. */
const long = Buffer.alloc(1_500_000, "0123456789abc");
const opened = new AsyncDisposableStack();

before(async () => {
  service = opened.use(
    await openTestService({ HLUST_ENGINE: "scripted", HLUST_UPLOAD_BYTES_MAX: `${bytesMax}` }),
  );
  transcripts = opened.use(
    openOriginalClient(
      "lr/transcript/v1alpha1/transcript.proto",
      "lr.transcript.v1alpha1.TranscriptService",
      service,
    ),
  );
  const file = "google/bytestream/bytestream.proto";
  const name = "google.bytestream.ByteStream";
  blobs = opened.use(openOriginalClient(file, name, service));
  const folder = join(service.dataFolder, "postgres");
  const log = createLog("silent");
  database = opened.use(await openDatabase({ url: undefined, folder, log }));
  const { token } = await addApiKey(database.db, await addAccount(database.db), [
    "transcripts.read",
    "transcripts.write",
  ]);
  const { address } = service;
  stranger = opened.use(openOriginalClient(file, name, { address, key: token }));
  speech = speak("the council meets on the first monday of the month");
});
after(() => opened.disposeAsync());

/** Submits a job as a binary client does: without `use_uri`, since it is false. */
async function submit(): Promise<{ name: string; blob: string }> {
  const metadata = { file_type: "AUDIO", language_code: "en-US" };
  const job = await transcripts.call("SubmitTranscriptJob", { metadata });
  assert.deepEqual([job.state, job.result], ["SUBMITTED", "transcript"]);
  return { name: job.name, blob: `blob/${job.transcript}` };
}

async function jobOf(name: string): Promise<Message> {
  return await transcripts.call("GetTranscriptJob", { name });
}

/** Returns the messages that write the speech, or other content, from an offset on. */
function messagesOf(blob: string, options: Partial<WrittenContent> = {}): Message[] {
  return writeMessages(blob, { of: speech, ...options });
}

const write = async (messages: readonly object[], client = blobs): Promise<Message> =>
  await writeContent(client, messages);
const read = async (blob: string, range?: object): Promise<Buffer> =>
  await readContent(blobs, blob, range);

test("content that is written in one stream is transcribed, and read by its owner", async () => {
  const { name, blob } = await submit();
  const waiting = await jobOf(name);
  assert.deepEqual([waiting.state, waiting.progress_percent], ["WAITING_FOR_CONTENT", 0]);
  assert.equal(`blob/${waiting.transcript}`, blob);
  assert.deepEqual(await statusOf(blobs, blob), [0, false]);
  const answer = await write(messagesOf(blob));
  assert.equal(answer.committed_size, speech.length);
  assert.deepEqual(await statusOf(blobs, blob), [speech.length, true]);
  let job: Message;
  await until(async () => {
    job = await jobOf(name);
    return !["PROCESSING", "WAITING_FOR_CONTENT"].includes(job.state);
  }, 60_000);
  assert.deepEqual([job.state, `blob/${job.transcript}`], ["SUCCESS", blob]);
  const transcript = await transcripts.call("GetTranscript", { name: job.transcript });
  assert.ok(transcript.segments.length > 0);
  assert.ok((await read(blob)).equals(speech));
  const [at, limit] = [44, 1000];
  const part = await read(blob, { read_offset: at, read_limit: limit });
  assert.ok(part.equals(speech.subarray(at, at + limit)));
  assert.equal((await read(blob, { read_offset: speech.length })).length, 0);
});

/** Opens a write of the long content, and waits until some of it is stored. */
async function begin(blob: string): Promise<OpenStream & { readonly size: number }> {
  const opened = blobs.send("Write");
  for (const message of messagesOf(blob, { of: long, to: 1_200_000, finish: false })) {
    opened.call.write(message);
  }
  let size = 0;
  await until(async () => {
    [size] = await statusOf(blobs, blob);
    return size > 0;
  });
  return { ...opened, size };
}

async function heldUploads(): Promise<number> {
  const { rows } = await database.pool.query("select from upload where holder is not null");
  return rows.length;
}

test("a write that breaks off continues at the committed size", async () => {
  const { name, blob } = await submit();
  const { call, size } = await begin(blob);
  call.cancel();
  await until(async () => (await heldUploads()) === 0);
  const [kept, isComplete] = await statusOf(blobs, blob);
  assert.ok(kept >= size && kept < long.length && !isComplete, `${kept}`);
  assert.equal((await jobOf(name)).state, "WAITING_FOR_CONTENT");
  const { committed_size: all } = await write(messagesOf(blob, { of: long, from: kept }));
  assert.equal(all, long.length);
  assert.ok((await read(blob)).equals(long));
});

test("a write without its end keeps the bytes, and the content may be finished without more", async () => {
  const { blob } = await submit();
  const { committed_size: size } = await write(messagesOf(blob, { finish: false }));
  assert.equal(size, speech.length);
  assert.deepEqual(await statusOf(blobs, blob), [size, false]);
  const last = { resource_name: blob, write_offset: size, finish_write: true };
  // A client that did not receive the answer asks again.
  for (const _time of ["first", "repeated"]) {
    assert.equal((await write([last])).committed_size, size);
  }
  assert.deepEqual(await statusOf(blobs, blob), [size, true]);
});

test("a later write ends an earlier one whose connection is silent", async () => {
  const { blob } = await submit();
  const { answer, size } = await begin(blob);
  // The earlier write stores what it has received when it ends, so the first offset may be behind.
  const behind = write(messagesOf(blob, { of: long, from: size }));
  await assert.rejects(answer, { code: status.ABORTED });
  await behind.catch(({ code }) => {
    assert.equal(code, status.OUT_OF_RANGE);
  });
  const [from, isComplete] = await statusOf(blobs, blob);
  if (!isComplete) await write(messagesOf(blob, { of: long, from }));
  assert.ok((await read(blob)).equals(long));
});

test("concurrent writes of the same content leave one whole copy", async () => {
  const { blob } = await submit();
  const writes = Array.from({ length: 4 }, async () => await write(messagesOf(blob)));
  const ends = await Promise.allSettled(writes);
  assert.ok(ends.some((end) => end.status === "fulfilled"));
  for (const end of ends) {
    if (end.status === "fulfilled") continue;
    const { code } = end.reason;
    assert.ok([status.ABORTED, status.ALREADY_EXISTS, status.OUT_OF_RANGE].includes(code), code);
  }
  assert.ok((await read(blob)).equals(speech));
});

test("wrong writes are refused with a reason, and what was stored stays", async () => {
  const { blob } = await submit();
  await write(messagesOf(blob, { to: 1000, finish: false }));
  const data = speech.subarray(1000, 1100);
  const next = { resource_name: blob, write_offset: 1000, data };
  const rows: [what: string, messages: object[], code: number, text: RegExp, size?: number][] = [
    ["no message", [], status.INVALID_ARGUMENT, /resourceName: is required/],
    ["no name", [{ ...next, resource_name: "" }], status.INVALID_ARGUMENT, /resourceName/],
    [
      "an offset below",
      [{ ...next, write_offset: 0 }],
      status.OUT_OF_RANGE,
      /1000 bytes are stored/,
    ],
    ["an offset above", [{ ...next, write_offset: 1001 }], status.OUT_OF_RANGE, /byte 1001/],
    ["a negative offset", [{ ...next, write_offset: -1 }], status.OUT_OF_RANGE, /byte -1/],
    [
      "another name in a later message",
      [next, { ...next, resource_name: `${blob}x`, write_offset: 1100 }],
      status.INVALID_ARGUMENT,
      /resourceName: is .*, but the write is of/,
      1100,
    ],
    [
      "a gap within the write",
      [
        { ...next, write_offset: 1100 },
        { data, write_offset: 1300 },
      ],
      status.OUT_OF_RANGE,
      /byte 1300/,
      1200,
    ],
  ];
  let stored = 1000;
  for (const [what, messages, code, text, size = stored] of rows) {
    await assert.rejects(write(messages), { code, message: text }, what);
    assert.deepEqual(await statusOf(blobs, blob), [size, false], what);
    stored = size;
  }
  const end = { resource_name: blob, write_offset: stored, finish_write: true, data };
  const after = { write_offset: stored + data.length, data };
  await assert.rejects(write([end, after]), {
    code: status.INVALID_ARGUMENT,
    message: /finishWrite/,
  });
});

test("content must not be empty", async () => {
  const { blob } = await submit();
  const empty = write([{ resource_name: blob, finish_write: true }]);
  await assert.rejects(empty, {
    code: status.INVALID_ARGUMENT,
    message: /data: the content is empty/,
  });
  assert.deepEqual(await statusOf(blobs, blob), [0, false]);
});

test("content that is complete is not written again", async () => {
  const { blob } = await submit();
  await write(messagesOf(blob));
  for (const messages of [messagesOf(blob), messagesOf(blob, { from: 1000, to: 2000 })]) {
    const reason = { code: status.ALREADY_EXISTS, message: /complete already/ };
    await assert.rejects(write(messages), reason);
  }
  assert.ok((await read(blob)).equals(speech));
});

test("names that do not exist, and those of another account, are not found", async () => {
  const { blob } = await submit();
  const made = { metadata: { language_code: "en-US", file_type: "AUDIO" } };
  const { name: without } = await transcripts.call("CreateTranscript", { transcript: made });
  const rows: [name: string, client: OriginalClient][] = [
    [blob, stranger],
    [`blob/transcripts/${newId()}`, blobs],
    [blob.slice("blob/".length), blobs],
    ["blob/transcripts/1", blobs],
    [`${blob}/x`, blobs],
    [`blob/${without}`, blobs],
    ["x", blobs],
  ];
  for (const [name, client] of rows) {
    const absent = { code: status.NOT_FOUND, message: /there is no / };
    await assert.rejects(statusOf(client, name), absent, name);
    await assert.rejects(write([{ resource_name: name, data: speech }], client), absent, name);
    const reading = Array.fromAsync(client.stream("Read", { resource_name: name }));
    await assert.rejects(reading, absent, name);
  }
  await assert.rejects(read(blob), { code: status.FAILED_PRECONDITION, message: /waits/ });
  await write(messagesOf(blob));
  const ranges: [range: object, code: number][] = [
    [{ read_offset: -1 }, status.OUT_OF_RANGE],
    [{ read_offset: speech.length + 1 }, status.OUT_OF_RANGE],
    [{ read_limit: -1 }, status.INVALID_ARGUMENT],
  ];
  for (const [range, code] of ranges) await assert.rejects(read(blob, range), { code });
  const foreign = Array.fromAsync(stranger.stream("Read", { resource_name: blob }));
  await assert.rejects(foreign, { code: status.NOT_FOUND });
});

test("a job ends as ERROR if its content is larger than media may be", async () => {
  const { name, blob } = await submit();
  const piece = Buffer.alloc(500_000);
  const messages = Array.from({ length: 5 }, (_, at) => ({
    resource_name: blob,
    write_offset: at * piece.length,
    data: piece,
  }));
  await assert.rejects(write(messages), {
    code: status.INVALID_ARGUMENT,
    message: /larger than 2000000 bytes/,
  });
  const job = await jobOf(name);
  assert.deepEqual([job.state, job.result], ["ERROR", "error"]);
  assert.match(job.error.message, /larger than 2000000 bytes/);
  await assert.rejects(statusOf(blobs, blob), { code: status.FAILED_PRECONDITION });
});

test("a cancelled job receives no more, and its write ends", async () => {
  const { name, blob } = await submit();
  const { answer } = await begin(blob);
  assert.equal((await service.call("POST", `/v1alpha1/${name}:cancel`, {})).status, 200);
  await assert.rejects(answer, { code: status.FAILED_PRECONDITION, message: /the job ended/ });
  assert.equal((await jobOf(name)).state, "CANCELLED");
  await assert.rejects(write(messagesOf(blob)), { code: status.FAILED_PRECONDITION });
  const { rows } = await database.pool.query("select from upload where media_id is null");
  assert.equal(rows.length, await waitingJobs());
});

async function waitingJobs(): Promise<number> {
  const text = "select from transcript_job where state = 'WAITING_FOR_CONTENT'";
  return (await database.pool.query(text)).rows.length;
}

test("useUri must be given in JSON, and false without uri waits for content", async () => {
  const metadata = { languageCode: "en-US", fileType: "AUDIO" };
  const path = "/v1alpha1/transcriptjob:submit";
  for (const body of [{ metadata }, { metadata, uri: "uploads/1" }]) {
    const { status: code, json } = await service.call("POST", path, body);
    assert.equal(code, 400);
    assert.match(JSON.stringify(json), /useUri: is required/);
  }
  const { status: code, json } = await service.call("POST", path, { metadata, useUri: false });
  assert.equal(code, 200);
  assert.match(json.transcript, /^transcripts\//);
  assert.equal(json.state, undefined);
  const { json: job } = await service.call("GET", `/v1alpha1/${json.name}`);
  assert.deepEqual([job.state, job.transcript], ["WAITING_FOR_CONTENT", json.transcript]);
});

test("a job receives its content by a PUT to a signed URL, too, with the name of its file", async () => {
  const { name, blob } = await submit();
  const resourceName = blob.slice("blob/".length);
  const request = { resourceName, filename: "fundur.wav" };
  const { json } = await service.call("POST", "/v1alpha1/initupload", request);
  assert.equal(json.resourceName, resourceName);
  const body = new Uint8Array(speech);
  assert.equal((await fetch(json.storageSignedUrl, { method: "PUT", body })).status, 200);
  assert.deepEqual(await statusOf(blobs, blob), [speech.length, true]);
  const { state, transcript_metadata: metadata } = await jobOf(name);
  assert.notEqual(state, "WAITING_FOR_CONTENT");
  assert.equal(metadata.original_filename, "fundur.wav");
});
