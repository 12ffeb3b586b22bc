import assert from "node:assert/strict";
import { after, test } from "node:test";
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import { keepOnlyOne } from "../../test/fixtures/archive-fixture.ts";
import { metadataWith, openTestTranscripts } from "../../test/fixtures/open-test-transcripts.ts";
import { callBy, testCaller } from "../../test/fixtures/test-caller.ts";
import { deleteAccount } from "../accounts/delete-account.ts";
import { scopes } from "../auth/caller.ts";
import { checkArchive } from "../fsck/check-archive.ts";
import {
  BinTranscriptsRequestSchema,
  BinTranscriptsResponseSchema,
  DeleteBinnedTranscriptsRequestSchema,
  ListBinnedTranscriptsRequestSchema,
  ListBinnedTranscriptsResponseSchema,
  RestoreBinnedTranscriptsRequestSchema,
} from "../gen/hlust/transcripts/v1alpha1/bin_pb.ts";
import { holdingsOf } from "../operator/delete-account.ts";
import { newId } from "../std/ids.ts";
import { createLog } from "../std/log.ts";
import { binMethods } from "./bin-methods.ts";
import { emptyBins } from "./empty-bins.ts";
import { enforceRetention } from "./retention.ts";

let nowMs = Date.now();
const now = () => nowMs;
const app = await openTestTranscripts({ now });
after(async () => {
  await app[Symbol.asyncDispose]();
});
const { db, store, service } = app;
const log = createLog("silent");
const dayMs = 86_400_000;
const binDays = 30;

/** The methods of the bin, called by an account. */
function binOf(accountId: string, methods: ReturnType<typeof binMethods> = service) {
  const context = callBy(testCaller(accountId, scopes));
  return {
    async put(...names: string[]) {
      const request = create(BinTranscriptsRequestSchema, { names });
      const answer = await methods.binTranscripts(request, context);
      return create(BinTranscriptsResponseSchema, answer);
    },
    async list(query: MessageInitShape<typeof ListBinnedTranscriptsRequestSchema> = {}) {
      const request = create(ListBinnedTranscriptsRequestSchema, query);
      const answer = await methods.listBinnedTranscripts(request, context);
      return create(ListBinnedTranscriptsResponseSchema, answer);
    },
    async restore(...names: string[]) {
      const request = create(RestoreBinnedTranscriptsRequestSchema, { names });
      return await methods.restoreBinnedTranscripts(request, context);
    },
    async delete(...names: string[]) {
      const request = create(DeleteBinnedTranscriptsRequestSchema, { names });
      return await methods.deleteBinnedTranscripts(request, context);
    },
  };
}

const draft = (subject: string) => ({ metadata: metadataWith({ subject }), segments: [] });

async function findings(): Promise<readonly string[]> {
  const found: string[] = [];
  for await (const { code } of checkArchive({ db, store, readsMedia: true })) found.push(code);
  return found;
}

test("a transcript in the bin keeps its versions and media, is complete for fsck, and is deleted with them when its time is over", async () => {
  const { id, mediaId, versions } = await keepOnlyOne(app);
  const name = `transcripts/${id}`;
  const own = binOf(app.accountId);
  const before = await app.client.get(name);
  const put = await own.put(name);
  assert.deepEqual([put.names, put.missing], [[name], []]);
  assert.equal(put.deleteTime && timestampDate(put.deleteTime).getTime(), nowMs + binDays * dayMs);
  assert.deepEqual(await findings(), []);
  await assert.rejects(app.client.get(name), { message: /transcript/ });
  assert.equal((await store.sizeBytes(mediaId)) === undefined, false);

  await own.restore(name);
  assert.deepEqual(await app.client.get(name), before);
  assert.equal((await app.client.versions({ parent: name })).versions.length, versions.length);

  await own.put(name);
  const empty = async (afterDays: number) =>
    await emptyBins({ db, store, log, binDays, now: () => nowMs + afterDays * dayMs });
  await empty(29.9);
  assert.equal((await own.list()).binnedTranscripts.length, 1);
  await empty(30.1);
  assert.equal((await own.list()).binnedTranscripts.length, 0);
  assert.equal(await app.findMedia(mediaId), undefined);
  assert.equal(await store.sizeBytes(mediaId), undefined);
  assert.deepEqual(await findings(), []);
  assert.deepEqual((await own.restore(name)).missing, [name]);
});

test("a sweep that ends after its first batch is continued by the next one", async () => {
  const account = await app.newAccount();
  const ids = Array.from({ length: 450 }, () => newId());
  const names = ids.map((id) => `transcripts/${id}`);
  const metadata = "{}";
  const row = { account_id: account, metadata, subject: "", keywords: [], recording_ms: null };
  await db
    .insertInto("transcript")
    .values(
      ids.map((id) => ({ ...row, id, version_id: id, parent_version_id: null, media_id: null })),
    )
    .execute();
  const own = binOf(account);
  for (let at = 0; at < names.length; at += 100) await own.put(...names.slice(at, at + 100));
  const ending = new AbortController();
  let batches = 0;
  const signal = ending.signal;
  const later = () => nowMs + 31 * dayMs;
  // The sweep looks at its signal before each batch.
  const stopping = Object.create(signal, {
    throwIfAborted: {
      value: () => {
        if ((batches += 1) > 1) throw new Error("the node stops");
      },
    },
  });
  await assert.rejects(emptyBins({ db, store, log, binDays, now: later, signal: stopping }), {
    message: "the node stops",
  });
  assert.equal((await own.list({ pageSize: 1000 })).binnedTranscripts.length, 250);
  await Promise.all([1, 2].map(async () => emptyBins({ db, store, log, binDays, now: later })));
  assert.equal((await own.list()).binnedTranscripts.length, 0);
});

test("the bin is listed newest first, in pages, with who put a transcript there; other accounts see nothing of it", async () => {
  const account = await app.newAccount();
  const own = binOf(account);
  const names: string[] = [];
  for (const subject of ["fyrsta", "önnur", "þriðja"]) {
    nowMs += 1000;
    const name = await app.clientFor(account).create(draft(subject));
    names.unshift(name);
    await own.put(name);
  }
  const first = await own.list({ pageSize: 2 });
  const second = await own.list({ pageSize: 2, pageToken: first.nextPageToken });
  const listed = [...first.binnedTranscripts, ...second.binnedTranscripts];
  assert.deepEqual(
    listed.map(({ name }) => name),
    names,
  );
  assert.equal(second.nextPageToken, "");
  assert.equal(listed[0]?.subject, "þriðja");
  assert.equal(listed[0].languageCode, "is-IS");
  assert.match(listed[0].author, /^apiKeys\//);
  const [newest = ""] = names;
  const other = binOf(app.accountId);
  const { pageToken } = { pageToken: first.nextPageToken };
  await assert.rejects(other.list({ pageToken }), { message: /pageToken/ });
  assert.deepEqual((await other.restore(newest)).missing, [newest]);
  assert.deepEqual((await other.delete(newest)).missing, [newest]);
  assert.deepEqual((await own.put(newest)).missing, [newest]);
  assert.deepEqual((await own.delete(newest, newest)).names, [newest]);
  assert.equal((await own.list()).binnedTranscripts.length, 2);
});

test("every bad name of a batch is reported, and more than 100 are refused", async () => {
  const own = binOf(app.accountId);
  await assert.rejects(own.put(), { message: /names: is required/ });
  await assert.rejects(own.put("a", `transcripts/${newId()}`, "transcripts/1"), {
    message: /names\[0\]: must be transcripts\/<transcript_id>, not "a".*names\[2\]/s,
  });
  const many = Array.from({ length: 101 }, () => `transcripts/${newId()}`);
  await assert.rejects(own.restore(...many), { message: /has 101 names; at most 100/ });
});

test("without a bin, transcripts are deleted at once", async () => {
  const account = await app.newAccount();
  const name = await app.clientFor(account).create(draft("gone"));
  const pageTokens = { write: () => "", read: () => undefined };
  const own = binOf(account, binMethods({ db, store, pageTokens, log, binDays: 0 }));
  const { names, deleteTime } = await own.put(name);
  assert.deepEqual([names, deleteTime], [[name], undefined]);
  assert.deepEqual((await own.restore(name)).missing, [name]);
  assert.equal((await own.list()).binDays, 0);
});

test("the retention time of an account also ends what is in its bin", async () => {
  const account = await app.newAccount();
  await db
    .updateTable("account")
    .set({ transcript_retention_days: 7 })
    .where("id", "=", account)
    .execute();
  const name = await app.clientFor(account).create(draft("kept for a week"));
  const own = binOf(account);
  await own.put(name);
  await enforceRetention({ db, store, log, now: () => Date.now() + 6 * dayMs });
  assert.equal((await own.list()).binnedTranscripts.length, 1);
  await enforceRetention({ db, store, log, now: () => Date.now() + 8 * dayMs });
  assert.equal((await own.list()).binnedTranscripts.length, 0);
});

test("an account is counted and deleted with its bin", async () => {
  const account = await app.newAccount();
  const client = app.clientFor(account);
  const name = await client.create(draft("in the bin"));
  await client.create(draft("in the list"));
  await binOf(account).put(name);
  assert.equal((await holdingsOf(db, account)).transcripts, 2);
  assert.equal(await deleteAccount({ db, log }, account), true);
  const id = name.slice("transcripts/".length);
  const left = await db.selectFrom("transcript").where("id", "=", id).select("id").execute();
  assert.deepEqual(left, []);
});
