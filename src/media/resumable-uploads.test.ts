import assert from "node:assert/strict";
import { text } from "node:stream/consumers";
import { after, test } from "node:test";
import { metadataWith, openTestTranscripts } from "../../test/fixtures/open-test-transcripts.ts";
import { newId } from "../std/ids.ts";
import { createLog } from "../std/log.ts";
import type { MediaStore } from "./media-store.ts";
import { createResumableUploads } from "./resumable-uploads.ts";

const app = await openTestTranscripts();
after(() => app[Symbol.asyncDispose]());
const { db, store, accountId } = app;
const options = { db, uploadBytesMax: 1_000_000, log: createLog("silent") };
const uploads = createResumableUploads({ ...options, store });

async function* bytesOf(...parts: string[]): AsyncGenerator<Uint8Array> {
  for (const part of parts) yield Buffer.from(part);
}

/** Yields a part, and then fails as a connection does. */
async function* broken(part: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(part);
  throw new Error("gone");
}

async function begin(sizeBytes: number, transcriptId: string | null = null): Promise<string> {
  const announced = { transcriptId, fileName: "talk.wav", sizeBytes, metadata: "filename eA==" };
  const begun = await uploads.begin(accountId, announced);
  assert.ok(begun);
  return begun.id;
}

function sent(offset: number, bytes: AsyncIterable<Uint8Array>) {
  const { signal } = new AbortController();
  return { offset, bytes, announcedBytes: undefined, signal, ownsChunks: false, onReady: () => {} };
}

async function mediaOf(id: string): Promise<string | null | undefined> {
  const row = db.selectFrom("upload").where("id", "=", id).select("media_id");
  return (await row.executeTakeFirst())?.media_id;
}

test("bytes of several calls become the media of a transcript when the last one arrives", async () => {
  const name = await app.client.create({ metadata: metadataWith() });
  const id = await begin(10, name.slice("transcripts/".length));
  await assert.rejects(uploads.append(accountId, id, sent(0, broken("01234"))), {
    message: "gone",
  });
  const { receivedBytes, metadata } = await uploads.find(accountId, id);
  assert.deepEqual([receivedBytes, metadata], [5, "filename eA=="]);
  assert.equal((await app.client.get(name)).uri, "");
  const done = await uploads.append(accountId, id, sent(5, bytesOf("567", "89")));
  assert.equal(done.receivedBytes, 10);
  assert.equal(await text(await store.open((await mediaOf(id)) ?? "")), "0123456789");
  assert.notEqual((await app.client.get(name)).uri, "");
  assert.equal((await uploads.find(accountId, id)).receivedBytes, 10);
});

test("an upload of another account, and one for a PUT, do not exist", async () => {
  const id = await begin(10);
  const other = await app.newAccount();
  const put = await app.uploads.begin(accountId, null);
  const rows = [
    [other, id],
    [accountId, newId()],
    [accountId, put?.id ?? ""],
  ] as const;
  for (const [account, upload] of rows) {
    const absent = { code: "not_found" };
    await assert.rejects(uploads.find(account, upload), absent);
    await assert.rejects(uploads.append(account, upload, sent(0, bytesOf("x"))), absent);
    await assert.rejects(uploads.remove(account, upload), absent);
  }
  assert.equal((await uploads.find(accountId, id)).receivedBytes, 0);
  const transcriptId = (await app.client.create({ metadata: metadataWith() })).slice(12);
  const announced = { transcriptId, fileName: "", sizeBytes: 1, metadata: "" };
  assert.equal(await uploads.begin(other, announced), undefined);
});

test("a call at another offset, or with too many bytes, stores nothing", async () => {
  const id = await begin(4);
  await uploads.append(accountId, id, sent(0, bytesOf("01")));
  const rows = [
    [0, "OFFSET_MISMATCH"],
    [3, "OFFSET_MISMATCH"],
    [2, "UPLOAD_TOO_LONG"],
  ] as const;
  for (const [offset, reason] of rows) {
    await assert.rejects(uploads.append(accountId, id, sent(offset, bytesOf("2345"))), { reason });
  }
  const tooMany = { ...sent(2, bytesOf("23")), announcedBytes: 3 };
  await assert.rejects(uploads.append(accountId, id, tooMany), { reason: "UPLOAD_TOO_LONG" });
  assert.equal((await uploads.find(accountId, id)).receivedBytes, 2);
  await uploads.append(accountId, id, sent(2, bytesOf("23")));
  await assert.rejects(uploads.append(accountId, id, sent(2, bytesOf("23"))), {
    reason: "OFFSET_MISMATCH",
    metadata: { receivedBytes: "4" },
  });
});

test("media is recorded by the next call if the one with the last byte dies before", async () => {
  for (const step of ["finish", "record"] as const) {
    const id = await begin(3);
    const dying: MediaStore = {
      ...store,
      partial: {
        ...store.partial,
        async finish(mediaId) {
          if (step === "record") await store.partial.finish(mediaId);
          throw new Error("killed");
        },
      },
    };
    const late = createResumableUploads({ ...options, store: dying });
    await assert.rejects(late.append(accountId, id, sent(0, bytesOf("abc"))), {
      message: "killed",
    });
    assert.equal(await mediaOf(id), null);
    assert.equal((await uploads.find(accountId, id)).receivedBytes, 3, step);
    assert.equal(await mediaOf(id), id);
  }
});

test("bytes are kept if the database fails while the media is recorded", async () => {
  const id = await begin(3);
  const failing: MediaStore = {
    ...store,
    partial: {
      ...store.partial,
      async finish(mediaId) {
        await db.schema.alterTable("media").renameTo("media_unavailable").execute();
        return await store.partial.finish(mediaId);
      },
    },
  };
  const late = createResumableUploads({ ...options, store: failing });
  await assert.rejects(late.append(accountId, id, sent(0, bytesOf("abc"))), /media/);
  await db.schema.alterTable("media_unavailable").renameTo("media").execute();
  assert.equal(await mediaOf(id), null);
  assert.equal((await uploads.find(accountId, id)).receivedBytes, 3);
  assert.equal(await text(await store.open((await mediaOf(id)) ?? "")), "abc");
});

test("an upload expires a day after its last bytes", async () => {
  let now = Date.now();
  const timed = createResumableUploads({ ...options, store, now: () => now });
  const id = await begin(6);
  now += 86_000_000;
  await timed.append(accountId, id, sent(0, bytesOf("ab")));
  now += 86_000_000;
  assert.equal((await timed.find(accountId, id)).receivedBytes, 2);
  now += 500_000;
  const expired = { reason: "UPLOAD_EXPIRED", httpStatus: 410 };
  await assert.rejects(timed.find(accountId, id), expired);
  await assert.rejects(timed.append(accountId, id, sent(2, bytesOf("cd"))), expired);
  await timed.remove(accountId, id);
  assert.equal(await store.partial.committedBytes(id), 0);
});

test("unfinished bytes count against the storage limit of their account until they are deleted", async () => {
  const account = await app.newAccount();
  const limits = JSON.stringify({ storedBytes: 10 });
  await db.updateTable("account").set({ limits }).where("id", "=", account).execute();
  const beginOf = async (sizeBytes: number) => {
    const announced = { transcriptId: null, fileName: "", sizeBytes, metadata: "" };
    return (await uploads.begin(account, announced))?.id ?? "";
  };
  await assert.rejects(beginOf(11), { reason: "STORAGE_LIMIT" });
  const [first, second] = [await beginOf(10), await beginOf(6)];
  await uploads.append(account, first, sent(0, bytesOf("01234")));
  await assert.rejects(beginOf(6), { reason: "STORAGE_LIMIT" });
  const refused = uploads.append(account, second, sent(0, bytesOf("x")));
  await assert.rejects(refused, { reason: "STORAGE_LIMIT" });
  await uploads.remove(account, first);
  await uploads.append(account, second, sent(0, bytesOf("012345")));
  assert.equal(await mediaOf(second), second);
  // The limit is lowered while an upload runs: its bytes are deleted, and it can be repeated.
  await uploads.remove(account, second);
  const third = await beginOf(4);
  const lowering = async function* () {
    yield Buffer.from("0123");
    const lower = JSON.stringify({ storedBytes: 3 });
    await db.updateTable("account").set({ limits: lower }).where("id", "=", account).execute();
  };
  const late = uploads.append(account, third, sent(0, lowering()));
  await assert.rejects(late, { reason: "STORAGE_LIMIT" });
  assert.equal((await uploads.find(account, third)).receivedBytes, 0);
  assert.equal(await store.sizeBytes(third), undefined);
});
