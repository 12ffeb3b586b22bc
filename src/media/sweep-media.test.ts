import assert from "node:assert/strict";
import { rm, utimes } from "node:fs/promises";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { after, beforeEach, test } from "node:test";
import { sql } from "kysely";
import { pino } from "pino";
import { openTestTranscripts } from "../../test/fixtures/open-test-transcripts.ts";
import { newId } from "../std/ids.ts";
import { insertMedia } from "./media-records.ts";
import { sweepMedia } from "./sweep-media.ts";

const app = await openTestTranscripts();
after(async () => {
  await app[Symbol.asyncDispose]();
});
const { db, store, accountId } = app;
const lines: { event: string; level: number; count?: number; mediaIds?: string[] }[] = [];
const log = pino(
  { base: null, messageKey: "event" },
  { write: (line) => lines.push(JSON.parse(line)) },
);
const minuteMs = 60_000;
const dayMs = 86_400_000;

const fileOf = (id: string) => join(app.mediaFolder, "finished", id.slice(-2), id);
const inMinutes = (minutes: number) => () => Date.now() + minutes * minuteMs;

beforeEach(async () => {
  lines.length = 0;
  await db.deleteFrom("media").execute();
  for await (const { id } of store.list()) await store.delete(id);
  for await (const { id } of store.removed.list()) await store.removed.delete(id);
});

async function* bytesOf(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

async function putBytes(): Promise<string> {
  const id = newId();
  await store.put(id, bytesOf(id), { bytesMax: 100 });
  return id;
}

async function record(id: string): Promise<void> {
  const media = { id, accountId, sizeBytes: 36, sha256: null, contentType: "audio/wav" };
  await db.transaction().execute(async (trx) => await insertMedia(trx, media));
}

async function idsOf(media: AsyncIterable<{ readonly id: string }>): Promise<string[]> {
  return (await Array.fromAsync(media, ({ id }) => id)).toSorted();
}

test("sweepMedia() sets aside old media that has no record, and keeps its bytes", async () => {
  const [recorded, old, young] = [await putBytes(), await putBytes(), await putBytes()];
  await record(recorded);
  assert.equal(await sweepMedia({ db, store, log }), 0);
  const later = inMinutes(46);
  await utimes(fileOf(young), later() / 1000, later() / 1000);
  assert.equal(await sweepMedia({ db, store, log, now: later }), 1);
  assert.deepEqual(await idsOf(store.list()), [recorded, young].toSorted());
  assert.deepEqual(await idsOf(store.removed.list()), [old]);
  await assert.rejects(store.open(old), { code: "not_found" });
  assert.deepEqual(
    lines.map(({ event, count, mediaIds }) => ({ event, count, mediaIds })),
    [{ event: "media.set_aside", count: 1, mediaIds: [old] }],
  );
});

test("sweepMedia() restores removed media that has a record again, as after a database restore", async () => {
  const id = await putBytes();
  await sweepMedia({ db, store, log, now: inMinutes(46) });
  assert.deepEqual(await idsOf(store.list()), []);
  await record(id);
  await sweepMedia({ db, store, log, now: inMinutes(92) });
  assert.equal((await buffer(await store.open(id))).toString(), id);
  assert.deepEqual(await idsOf(store.removed.list()), []);
  assert.deepEqual(
    lines.map(({ event, count }) => [event, count]),
    [
      ["media.set_aside", 1],
      ["media.put_back", 1],
    ],
  );
});

test("sweepMedia() deletes removed media after some days, never immediately", async () => {
  const id = await putBytes();
  await sweepMedia({ db, store, log, removedDays: 2, now: inMinutes(46) });
  const sweepAfter = async (ms: number) =>
    await sweepMedia({ db, store, log, removedDays: 2, now: () => Date.now() + ms });
  await sweepAfter(2 * dayMs - minuteMs);
  assert.deepEqual(await idsOf(store.removed.list()), [id]);
  await sweepAfter(2 * dayMs + minuteMs);
  assert.deepEqual(await idsOf(store.removed.list()), []);
  const [, deleted] = lines;
  assert.deepEqual([deleted?.event, deleted?.count], ["media.removed_deleted", 1]);
});

test("sweepMedia() moves nothing if there is more unrecorded media than kills can leave", async () => {
  const unknown = await Promise.all(Array.from({ length: 31 }, putBytes));
  for (let count = 0; count < 9; count += 1) await record(await putBytes());
  const sweep = async () => await sweepMedia({ db, store, log, now: inMinutes(46) });
  assert.equal(await sweep(), 0);
  assert.equal((await idsOf(store.list())).length, 40);
  const stopped = { event: "media.sweep_stopped", level: 50, unrecorded: 31, stored: 40, max: 30 };
  assert.partialDeepStrictEqual(lines, [stopped]);

  // 1 % of 40 is less than one, but up to 30 recordings are set aside in a store of any size.
  await record(unknown[0] ?? "");
  assert.equal(await sweep(), 30);
});

test("sweepMedia() sets aside up to 1 % of a large store, and never more than 100 recordings", async () => {
  const insert = async (ids: readonly string[]): Promise<unknown> =>
    await sql`insert into media (id, account_id, size_bytes, content_type)
      select id, ${accountId}, 1, 'audio/wav' from unnest(${ids}::uuid[]) as m (id)`.execute(db);
  for (const [stored, max] of [
    [4_000, 40],
    [11_000, 100],
  ] as const) {
    const ids = Array.from({ length: stored }, () => newId());
    await insert(ids.slice(max + 1));
    const list = async function* () {
      for (const id of ids) yield { id, putAt: new Date(0) };
    };
    const sweep = async () => await sweepMedia({ db, store: { ...store, list }, log });
    assert.equal(await sweep(), 0, `${max + 1} of ${stored}`);
    await insert(ids.slice(max, max + 1));
    assert.equal(await sweep(), max, `${max} of ${stored}`);
  }
});

test("sweepMedia() looks up many recordings with one statement", async () => {
  for (let count = 0; count < 20; count += 1) await record(await putBytes());
  let statements = 0;
  const counting = db.withPlugin({
    transformQuery({ node }) {
      statements += 1;
      return node;
    },
    transformResult: async ({ result }) => result,
  });
  await sweepMedia({ db: counting, store, log, now: inMinutes(46) });
  assert.equal(statements, 1);
});

test("two nodes that sweep concurrently set aside each recording once, without errors", async () => {
  const ids = await Promise.all(Array.from({ length: 10 }, putBytes));
  const sweep = async () => await sweepMedia({ db, store, log, now: inMinutes(46) });
  await Promise.all([sweep(), sweep()]);
  assert.deepEqual(await idsOf(store.removed.list()), ids.toSorted());
  for (const id of ids) await record(id);
  await Promise.all([sweep(), sweep()]);
  assert.deepEqual(await idsOf(store.list()), ids.toSorted());
  // One recording is deleted by hand.
  await rm(fileOf(ids[0] ?? ""));
  await sweep();
});

test("sweepMedia() deletes partial media a day after its upload is gone, and no other", async () => {
  const begun = await app.uploads.begin(accountId, null);
  const [kept, gone, young] = [begun?.id ?? "", newId(), newId()];
  for (const id of [kept, gone, young]) {
    await store.partial.append(id, 0, bytesOf("half"), { bytesMax: 10 });
  }
  const later = inMinutes(24 * 60 + 1);
  const at = later() / 1000;
  await utimes(join(app.mediaFolder, "partial", young), at, at);
  await sweepMedia({ db, store, log });
  assert.equal((await idsOf(store.partial.list())).length, 3);
  await sweepMedia({ db, store, log, now: later });
  assert.deepEqual(await idsOf(store.partial.list()), [kept, young].toSorted());
  assert.ok(lines.some(({ event, count }) => event === "media.partial_deleted" && count === 1));
});
