import assert from "node:assert/strict";
import { buffer } from "node:stream/consumers";
import { after, test } from "node:test";
import { metadataWith, openTestTranscripts } from "../../test/fixtures/open-test-transcripts.ts";
import { newId } from "../std/ids.ts";
import { createLog } from "../std/log.ts";
import { insertMedia, releaseMedia } from "./media-records.ts";
import type { MediaStore } from "./media-store.ts";
import { createUploads } from "./uploads.ts";

const app = await openTestTranscripts();
after(async () => {
  await app[Symbol.asyncDispose]();
});
const { db, store, uploads, accountId } = app;
const log = createLog("silent");
const limit = { bytesMax: 1000 };

async function* bytesOf(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

async function kept(): Promise<string[]> {
  const ids: string[] = [];
  for await (const { id } of store.list()) ids.push(id);
  return ids.toSorted();
}

async function newMedia(): Promise<string> {
  const id = newId();
  const stored = await store.put(id, bytesOf(id), limit);
  await db.transaction().execute(async (trx) => {
    await insertMedia(trx, { id, accountId, ...stored });
  });
  return id;
}

async function begin(transcriptId: string | null): Promise<string> {
  const begun = await uploads.begin(accountId, transcriptId);
  assert.ok(begun);
  return begun.id;
}

async function newTranscript(mediaId: string | null): Promise<string> {
  const name = await app.client.create({ metadata: metadataWith() });
  const id = name.slice("transcripts/".length);
  await db.updateTable("transcript").set({ media_id: mediaId }).where("id", "=", id).execute();
  return id;
}

async function newJob(mediaId: string, state: "PROCESSING" | "SUCCESS"): Promise<string> {
  const id = newId();
  const job = { id, account_id: accountId, state, metadata: "{}", media_id: mediaId, priority: 0 };
  await db
    .insertInto("transcript_job")
    .values({
      ...job,
      media_uri: null,
      upload_id: null,
      duration_ms: null,
      transcript_id: null,
      error: null,
      idempotency_key: null,
      request_sha256: null,
    })
    .execute();
  return id;
}

async function release(mediaId: string): Promise<boolean> {
  return await db.transaction().execute(async (trx) => await releaseMedia(trx, mediaId));
}

test("receive() stores media without a transcript for a job", async () => {
  const id = await begin(null);
  await uploads.check(id);
  await uploads.receive(id, bytesOf("hello"), limit);
  const { media_id: mediaId } = await db
    .selectFrom("upload")
    .where("id", "=", id)
    .select("media_id")
    .executeTakeFirstOrThrow();
  assert.equal((await buffer(await store.open(mediaId ?? ""))).toString(), "hello");
  await assert.rejects(uploads.check(id), { reason: "UPLOAD_USED" });
  const before = await kept();
  await assert.rejects(uploads.receive(id, bytesOf("again"), limit), { reason: "UPLOAD_USED" });
  assert.deepEqual(await kept(), before);
  await assert.rejects(uploads.check(newId()), { code: "not_found" });
});

test("receive() stores nothing if it is aborted after the last byte arrives", async () => {
  const stop = new AbortController();
  const stopping: MediaStore = {
    ...store,
    async put(id, bytes, options) {
      const stored = await store.put(id, bytes, options);
      stop.abort(new Error("gone"));
      return stored;
    },
  };
  const id = await begin(null);
  const before = await kept();
  const late = createUploads({ ...app, store: stopping, uploadBytesMax: 1000, log });
  const receiving = late.receive(id, bytesOf("hello"), { ...limit, signal: stop.signal });
  await assert.rejects(receiving, { message: "gone" });
  assert.deepEqual(await kept(), before);
  await uploads.check(id);
});

test("releaseMedia() deletes the record of media once nothing refers to it", async () => {
  const mediaId = await newMedia();
  const [one, two] = [await newTranscript(mediaId), await newTranscript(mediaId)];
  const job = await newJob(mediaId, "PROCESSING");
  const done = await newJob(mediaId, "SUCCESS");
  const letGo = async (id: string) =>
    await db.updateTable("transcript").set({ media_id: null }).where("id", "=", id).execute();
  await letGo(one);
  assert.equal(await release(mediaId), false);
  await letGo(two);
  assert.equal(await release(mediaId), false);
  await db.updateTable("transcript_job").set({ state: "ERROR" }).where("id", "=", job).execute();
  assert.equal(await release(mediaId), true);
  assert.equal(await app.findMedia(mediaId), undefined);
  const { media_id: left } = await db
    .selectFrom("transcript_job")
    .where("id", "=", done)
    .select("media_id")
    .executeTakeFirstOrThrow();
  assert.equal(left, null);
  await store.delete(mediaId);
});

test("releaseMedia() also deletes the upload, whose URL stops working", async () => {
  const transcriptId = await newTranscript(null);
  const id = await begin(transcriptId);
  await uploads.receive(id, bytesOf("one"), limit);
  const fresh = await begin(transcriptId);
  await uploads.receive(fresh, bytesOf("two"), limit);
  await assert.rejects(uploads.check(id), { code: "not_found" });
  await assert.rejects(uploads.check(fresh), { reason: "UPLOAD_USED" });
});

test("begin() creates no upload for another account's transcript", async () => {
  const transcriptId = await newTranscript(null);
  assert.equal(await uploads.begin(await app.newAccount(), transcriptId), undefined);
  assert.equal(await uploads.begin(accountId, newId()), undefined);
});
