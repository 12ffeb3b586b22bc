// Tests that the limit on an account's media bytes is exact for concurrent uploads, and that
// refused uploads leave nothing behind.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { metadataWith, openTestTranscripts } from "../../test/fixtures/open-test-transcripts.ts";
import { createLog } from "../std/log.ts";
import { storedBytes } from "./stored-bytes.ts";
import { createUploads } from "./uploads.ts";

const app = await openTestTranscripts();
after(async () => {
  await app[Symbol.asyncDispose]();
});
const { db, store, uploads } = app;
const limit = { bytesMax: 10_000 };

async function* bytesOf(count: number, onLast: () => void = () => {}): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < count; at += 100) yield Buffer.alloc(Math.min(100, count - at), 1);
  onLast();
}

async function newAccount(limits: Record<string, number>): Promise<string> {
  const id = await app.newAccount();
  const update = db.updateTable("account").set({ limits: JSON.stringify(limits) });
  await update.where("id", "=", id).execute();
  return id;
}

async function begin(accountId: string, transcriptId: string | null = null): Promise<string> {
  const begun = await uploads.begin(accountId, transcriptId);
  assert.ok(begun);
  return begun.id;
}

async function kept(): Promise<number> {
  let count = 0;
  for await (const _ of store.list()) count += 1;
  return count;
}

const refused = { code: "resource_exhausted", reason: "STORAGE_LIMIT", retryAfterMs: 60_000 };

test("concurrent uploads are kept while they fit within the limit, exact to the byte", async () => {
  const account = await newAccount({ storedBytes: 1_000 });
  const before = await kept();
  const ids = await Promise.all(Array.from({ length: 8 }, async () => begin(account)));
  const results = await Promise.allSettled(
    ids.map(async (id) => uploads.receive(id, bytesOf(250), limit)),
  );
  assert.equal(results.filter(({ status }) => status === "fulfilled").length, 4);
  for (const result of results) {
    if (result.status === "fulfilled") continue;
    const { code, reason, retryAfterMs, metadata } = result.reason;
    assert.deepEqual({ code, reason, retryAfterMs }, refused);
    assert.deepEqual(metadata, { limit: "storedBytes", value: "1000", of: "account" });
  }
  assert.equal(await storedBytes(db, account), 1_000);
  assert.equal((await kept()) - before, 4, "refused uploads leave nothing");
  await assert.rejects(uploads.begin(account, null), refused, "no byte is left");
  await begin(await newAccount({}));
});

test("an upload is refused by its announced size, and aborted when it exceeds the remaining bytes", async () => {
  const account = await newAccount({ storedBytes: 1_000 });
  const id = await begin(account);
  await assert.rejects(uploads.check(id, 1_001), refused);
  const room = await uploads.check(id, 1_000);
  assert.deepEqual(room, { max: 1_000, bytes: 1_000 });
  const before = await kept();
  let isWhole = false;
  const bytes = bytesOf(5_000, () => {
    isWhole = true;
  });
  await assert.rejects(uploads.receive(id, bytes, { ...limit, room }), refused);
  assert.ok(!isWhole, "the upload is not read to its end");
  assert.equal(await kept(), before);
  await assert.rejects(uploads.receive(id, bytesOf(5_000), { bytesMax: 999, room }), {
    reason: "PAYLOAD_TOO_LARGE",
  });
  await uploads.receive(id, bytesOf(1_000), { ...limit, room });
});

test("new media of a transcript can use the bytes of the media that it replaces, but not those of another account's media", async () => {
  const account = await newAccount({ storedBytes: 1_000 });
  const client = app.clientFor(account);
  const transcriptId = (await client.create({ metadata: metadataWith() })).slice(12);
  await uploads.receive(await begin(account, transcriptId), bytesOf(900), limit);
  await assert.rejects(uploads.check(await begin(account), 101), refused);
  const again = await begin(account, transcriptId);
  const room = await uploads.check(again, 1_000);
  assert.equal(room?.bytes, 1_000);
  await assert.rejects(uploads.receive(again, bytesOf(1_001), { ...limit, room }), refused);
  await uploads.receive(again, bytesOf(1_000), { ...limit, room });
  assert.equal(await storedBytes(db, account), 1_000);
  await assert.rejects(uploads.begin(account, null), refused);
  const other = await newAccount({ storedBytes: 10 });
  await uploads.receive(await begin(other), bytesOf(10), limit);
  await assert.rejects(uploads.begin(other, transcriptId), refused);
});

test("the setting applies to accounts that have no limit of their own, and 0 means unlimited", async () => {
  const log = createLog("silent");
  const limited = createUploads({ ...app, uploadBytesMax: 10_000, storedBytesMax: 100, log });
  const [set, free] = [await newAccount({}), await newAccount({ storedBytes: 0 })];
  await assert.rejects(limited.check(await begin(set), 101), refused);
  await assert.rejects(limited.receive(await begin(set), bytesOf(101), limit), refused);
  await limited.receive(await begin(free), bytesOf(101), limit);
});
