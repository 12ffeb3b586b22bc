import assert from "node:assert/strict";
import { after, test } from "node:test";
import { sql } from "kysely";
import { metadataWith, openTestTranscripts } from "../../test/fixtures/open-test-transcripts.ts";
import { insertMedia } from "../media/media-records.ts";
import { newId } from "../std/ids.ts";
import { createLog } from "../std/log.ts";
import { enforceRetention } from "./retention.ts";

const app = await openTestTranscripts();
after(async () => {
  await app[Symbol.asyncDispose]();
});
const { db, store } = app;
const log = createLog("silent");
const dayMs = 86_400_000;

interface Days {
  readonly media?: number;
  readonly transcripts?: number;
}

async function newAccount({ media, transcripts }: Days): Promise<string> {
  const id = await app.newAccount();
  const days = {
    media_retention_days: media ?? null,
    transcript_retention_days: transcripts ?? null,
  };
  await db.updateTable("account").set(days).where("id", "=", id).execute();
  return id;
}

async function newMedia(accountId: string): Promise<string> {
  const id = newId();
  const stored = await store.put(id, bytes(), { bytesMax: 1000 });
  await db.transaction().execute(async (trx) => {
    await insertMedia(trx, { id, accountId, ...stored });
  });
  await db.updateTable("media").set({ duration_ms: 61_500 }).where("id", "=", id).execute();
  return id;
}

async function* bytes(): AsyncGenerator<Uint8Array> {
  yield Buffer.from("sound");
}

/** Creates a transcript with two versions. */
async function newTranscript(accountId: string, mediaId: string | null): Promise<string> {
  const client = app.clientFor(accountId);
  const segment = { startTime: {}, endTime: { seconds: 1n }, words: [] };
  const name = await client.create({ metadata: metadataWith(), segments: [segment] });
  await client.update({ name, metadata: metadataWith({ subject: "two" }) }, "metadata.subject");
  const id = name.slice("transcripts/".length);
  await db.updateTable("transcript").set({ media_id: mediaId }).where("id", "=", id).execute();
  return name;
}

async function newJob(accountId: string, mediaId: string): Promise<string> {
  const id = newId();
  const nothing = {
    media_uri: null,
    upload_id: null,
    duration_ms: null,
    transcript_id: null,
    error: null,
    idempotency_key: null,
    request_sha256: null,
  };
  await db
    .insertInto("transcript_job")
    .values({
      id,
      account_id: accountId,
      state: "PROCESSING",
      metadata: "{}",
      media_id: mediaId,
      ...nothing,
    })
    .execute();
  return id;
}

async function enforce(afterDays: number): Promise<void> {
  await enforceRetention({ db, store, log, now: () => Date.now() + afterDays * dayMs });
}

async function isKept(mediaId: string): Promise<boolean> {
  const isRecorded = (await app.findMedia(mediaId)) !== undefined;
  assert.equal((await store.sizeBytes(mediaId)) !== undefined, isRecorded, "row and bytes agree");
  return isRecorded;
}

/** Counts the rows of a transcript in all tables. */
async function rowsOf(name: string): Promise<number> {
  const id = name.slice("transcripts/".length);
  const { rows } = await sql<{ count: string }>`
    select (select count(*) from transcript where id = ${id})
      + (select count(*) from transcript_version where transcript_id = ${id})
      + (select count(*) from transcript_segments where transcript_id = ${id})
      + (select count(*) from upload where transcript_id = ${id}) as count
  `.execute(db);
  return Number(rows[0]?.count);
}

test("media and its bytes are deleted after the account's retention time; the transcript keeps its words and duration", async () => {
  const account = await newAccount({ media: 30 });
  const client = app.clientFor(account);
  const mediaId = await newMedia(account);
  const name = await newTranscript(account, mediaId);
  const before = await client.get(name);
  assert.notEqual(before.uri, "");
  await enforce(29.9);
  assert.equal(await isKept(mediaId), true);
  await enforce(30.1);
  assert.equal(await isKept(mediaId), false);
  const { uri, metadata, ...rest } = await client.get(name);
  assert.equal(uri, "");
  assert.deepEqual(metadata?.recordingDuration, before.metadata?.recordingDuration);
  assert.equal(metadata?.recordingDuration?.seconds, 61n);
  assert.deepEqual(rest, { ...rest, segments: before.segments, version: before.version });
  const { transcripts } = await client.list();
  assert.equal(transcripts[0]?.metadata?.recordingDuration?.seconds, 61n);
  await enforce(31);
});

test("transcripts that have not changed for the account's retention time are deleted, with versions, uploads and media", async () => {
  const account = await newAccount({ transcripts: 10 });
  const mediaId = await newMedia(account);
  const [old, changed] = [
    await newTranscript(account, mediaId),
    await newTranscript(account, null),
  ];
  await app.clientFor(account).initUpload(old);
  const id = changed.slice("transcripts/".length);
  const later = new Date(Date.now() + 5 * dayMs);
  await db.updateTable("transcript").set({ updated_at: later }).where("id", "=", id).execute();
  const rows = [await rowsOf(old), await rowsOf(changed)];
  await enforce(9.9);
  assert.deepEqual([await rowsOf(old), await rowsOf(changed)], rows);
  await enforce(10.1);
  assert.deepEqual([await rowsOf(old), await rowsOf(changed)], [0, rows[1]]);
  assert.equal(await isKept(mediaId), false);
  await enforce(15.1);
  assert.equal(await rowsOf(changed), 0);
});

test("nothing is deleted from accounts without a retention time", async () => {
  const account = await newAccount({});
  const mediaId = await newMedia(account);
  const name = await newTranscript(account, mediaId);
  await newTranscript(await newAccount({ media: 1, transcripts: 1 }), null);
  await enforce(40_000);
  assert.equal(await isKept(mediaId), true);
  assert.notEqual((await app.clientFor(account).get(name)).uri, "");
});

test("media of a PROCESSING job stays until the job has ended", async () => {
  const account = await newAccount({ media: 1, transcripts: 3 });
  const mediaId = await newMedia(account);
  const name = await newTranscript(account, mediaId);
  const job = await newJob(account, mediaId);
  await enforce(2);
  assert.equal(await isKept(mediaId), true);
  assert.notEqual((await app.clientFor(account).get(name)).uri, "");
  await enforce(4);
  assert.equal(await isKept(mediaId), true);
  assert.equal(await rowsOf(name), 0, "its transcript was deleted by its own days");
  await db.updateTable("transcript_job").set({ state: "ERROR" }).where("id", "=", job).execute();
  await enforce(2);
  assert.equal(await isKept(mediaId), false);
});

test("media that two transcripts share stays until both are deleted", async () => {
  const account = await newAccount({ transcripts: 10 });
  const mediaId = await newMedia(account);
  const [one, two] = [await newTranscript(account, mediaId), await newTranscript(account, mediaId)];
  await app.clientFor(account).delete(one);
  assert.equal(await isKept(mediaId), true);
  await enforce(10.1);
  assert.equal(await rowsOf(two), 0);
  assert.equal(await isKept(mediaId), false);
});

test("concurrent sweeps delete thousands of rows, each once, while callers change and delete", async () => {
  const account = await newAccount({ media: 1, transcripts: 2 });
  const many = 1_000;
  await sql`
    with new_media as (
      insert into media (id, account_id, size_bytes, content_type)
      select gen_random_uuid(), ${account}, 5, 'audio/wav' from generate_series(1, ${many}::int)
      returning id)
    insert into transcript (id, account_id, version_id, metadata, subject, keywords, media_id)
    select gen_random_uuid(), ${account}, gen_random_uuid(), '{}', '', '{}', id from new_media
  `.execute(db);
  const ids = await db
    .selectFrom("transcript")
    .where("account_id", "=", account)
    .select("id")
    .limit(12)
    .execute();
  const client = app.clientFor(account);
  const callers = ids.map(async ({ id }) => {
    // The sweep or the caller may be first, so callers may get either answer.
    await client.delete(`transcripts/${id}`).catch((error: { code?: unknown }) => {
      assert.equal(error.code, "not_found");
    });
  });
  await Promise.all([enforce(1.5), enforce(1.5), enforce(3), enforce(3), ...callers]);
  await enforce(3);
  const { rows } = await sql<{ count: string }>`
    select (select count(*) from media where account_id = ${account})
      + (select count(*) from transcript where account_id = ${account}) as count
  `.execute(db);
  assert.equal(rows[0]?.count, "0");
});

test("an aborted sweep stops between two transactions", async () => {
  const account = await newAccount({ media: 1 });
  const mediaId = await newMedia(account);
  const stop = AbortSignal.abort(new Error("stopped"));
  const now = () => Date.now() + 2 * dayMs;
  await assert.rejects(enforceRetention({ db, store, log, now, signal: stop }), /stopped/);
  assert.equal(await isKept(mediaId), true);
});
