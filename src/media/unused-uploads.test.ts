import assert from "node:assert/strict";
import { after, test } from "node:test";
import { metadataWith, openTestTranscripts } from "../../test/fixtures/open-test-transcripts.ts";
import { newId } from "../std/ids.ts";
import { createLog } from "../std/log.ts";
import { removeUnusedUploads } from "./unused-uploads.ts";

const app = await openTestTranscripts();
after(async () => {
  await app[Symbol.asyncDispose]();
});
const { db, store, uploads, accountId } = app;
const log = createLog("silent");
const hourMs = 3_600_000;

async function begin(transcriptId: string | null = null): Promise<string> {
  const begun = await uploads.begin(accountId, transcriptId);
  assert.ok(begun);
  return begun.id;
}

/** Returns an upload with media. */
async function receive(): Promise<{ id: string; mediaId: string }> {
  const id = await begin();
  await uploads.receive(id, sound(), { bytesMax: 100 });
  const { media_id: mediaId } = await db
    .selectFrom("upload")
    .where("id", "=", id)
    .select("media_id")
    .executeTakeFirstOrThrow();
  return { id, mediaId: mediaId ?? "" };
}

async function* sound(): AsyncGenerator<Uint8Array> {
  yield Buffer.from("sound");
}

async function newJob(
  { id, mediaId }: { id: string; mediaId: string },
  state: "PROCESSING" | "ERROR",
  endedAt: number,
): Promise<string> {
  const jobId = newId();
  await db
    .insertInto("transcript_job")
    .values({
      id: jobId,
      account_id: accountId,
      state,
      metadata: "{}",
      media_id: state === "PROCESSING" ? mediaId : null,
      media_uri: null,
      upload_id: id,
      duration_ms: null,
      transcript_id: null,
      error: null,
      idempotency_key: null,
      request_sha256: null,
      updated_at: new Date(endedAt),
    })
    .execute();
  return jobId;
}

const sweep = async (afterHours: number) => {
  await removeUnusedUploads({ db, store, log, now: () => Date.now() + afterHours * hourMs });
};
const isPlace = async (id: string) =>
  (await db.selectFrom("upload").where("id", "=", id).select("id").executeTakeFirst()) !==
  undefined;
const isKept = async (mediaId: string) => (await store.sizeBytes(mediaId)) !== undefined;

test("an upload whose URL expired a day ago is deleted, but one that can still be written to stays", async () => {
  const name = await app.client.create({ metadata: metadataWith() });
  const places = [await begin(), await begin(name.slice("transcripts/".length))];
  await sweep(24.9);
  for (const id of places) assert.equal(await isPlace(id), true);
  await sweep(25.1);
  for (const id of places) assert.equal(await isPlace(id), false);
  await assert.rejects(uploads.check(places[0] ?? ""), { code: "not_found" });
});

test("media that no job has used for a day is deleted, with its bytes", async () => {
  const upload = await receive();
  await sweep(23.9);
  assert.equal(await isKept(upload.mediaId), true);
  await sweep(24.1);
  assert.equal(await isKept(upload.mediaId), false);
  assert.equal(await isPlace(upload.id), false);
});

test("media of a running job stays, and remains for a day after the job has failed", async () => {
  const [working, failed] = [await receive(), await receive()];
  await newJob(working, "PROCESSING", Date.now());
  await newJob(failed, "ERROR", Date.now() + 30 * hourMs);
  await sweep(48);
  assert.deepEqual([await isKept(working.mediaId), await isKept(failed.mediaId)], [true, true]);
  await sweep(54.1);
  assert.deepEqual([await isKept(working.mediaId), await isKept(failed.mediaId)], [true, false]);
});

test("media of a transcript stays", async () => {
  const { mediaId } = await receive();
  const name = await app.client.create({ metadata: metadataWith() });
  const id = name.slice("transcripts/".length);
  await db.updateTable("transcript").set({ media_id: mediaId }).where("id", "=", id).execute();
  await sweep(1000);
  assert.equal(await isKept(mediaId), true);
});

test("two concurrent sweeps remove everything without errors", async () => {
  const received = await Promise.all(Array.from({ length: 30 }, async () => await receive()));
  await Promise.all([sweep(48), sweep(48), sweep(48)]);
  await sweep(48);
  for (const { id, mediaId } of received) {
    assert.deepEqual([await isPlace(id), await isKept(mediaId)], [false, false]);
  }
});
