import assert from "node:assert/strict";
import { buffer } from "node:stream/consumers";
import { after, before, test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import {
  CreateMultipartUploadCommand,
  DeleteBucketCommand,
  UploadPartCommand,
} from "@aws-sdk/client-s3";
import { mediaStoreConformance } from "../../test/fixtures/media-store-conformance.ts";
import { partialMediaConformance } from "../../test/fixtures/partial-media-conformance.ts";
import { openTestBucket, type TestBucket } from "../../test/fixtures/open-test-bucket.ts";
import { openTestS3, type TestS3 } from "../../test/fixtures/open-test-s3.ts";
import {
  openTestTranscripts,
  type TestTranscripts,
} from "../../test/fixtures/open-test-transcripts.ts";
import { until } from "../../test/fixtures/until.ts";
import { newId } from "../std/ids.ts";
import { createLog } from "../std/log.ts";
import type { DirectTransfers, MediaStore } from "./media-store.ts";
import { openS3Store } from "./s3-store.ts";
import { storedBytes } from "./stored-bytes.ts";
import { openUploadCollector, type UploadCollector } from "./upload-collector.ts";
import { createUploads, type Uploads } from "./uploads.ts";

const log = createLog("silent");
const mebibyte = 2 ** 20;
let s3: TestS3;
let app: TestTranscripts;
before(async () => {
  [s3, app] = await Promise.all([openTestS3(), openTestTranscripts()]);
});
after(async () => {
  await s3[Symbol.asyncDispose]();
  await app[Symbol.asyncDispose]();
});

mediaStoreConformance("S3", async () => {
  const { settings } = await openTestBucket(s3);
  const store = await openS3Store(settings, { log, pageKeysMax: 7 });
  return { store, [Symbol.asyncDispose]: () => store[Symbol.asyncDispose]() };
});

partialMediaConformance("S3", async () => {
  const { settings } = await openTestBucket(s3);
  const again = async () => await openS3Store(settings, { log, pageKeysMax: 2 });
  const store = await again();
  return { store, again, [Symbol.asyncDispose]: () => store[Symbol.asyncDispose]() };
});

async function* bytesOf(...chunks: readonly (string | Buffer)[]): AsyncGenerator<Uint8Array> {
  for (const chunk of chunks) yield Buffer.from(chunk);
}

test("openS3Store() reports unusable settings to the operator", async () => {
  const { settings } = await openTestBucket(s3);
  const rows: [change: object, problem: RegExp][] = [
    [{ bucket: "absent-bucket" }, /^S3 has no bucket "absent-bucket" \(S3_BUCKET\)/],
    [
      { key: { id: s3.accessKeyId, secret: "wrong" } },
      /^S3 refuses the key .*S3_SECRET_ACCESS_KEY/,
    ],
    [
      { endpoint: "http://127.0.0.1:1" },
      /^S3 at http:\/\/127\.0\.0\.1:1 \(S3_ENDPOINT\) does not answer: ECONNREFUSED$/,
    ],
  ];
  for (const [change, message] of rows) {
    const opening = openS3Store({ ...settings, ...change }, { log, unavailableMsMax: 0 });
    await assert.rejects(opening, { message });
  }
});

test("ping() fails after the bucket is deleted", async () => {
  const { settings } = await openTestBucket(s3);
  await using store = await openS3Store(settings, { log });
  await s3.client.send(new DeleteBucketCommand({ Bucket: settings.bucket }));
  await assert.rejects(store.ping(), { code: "unavailable" });
});

test("two stores share a bucket with different prefixes", async () => {
  const bucket = await openTestBucket(s3);
  await using one = await openS3Store({ ...bucket.settings, prefix: "one/" }, { log });
  await using two = await openS3Store({ ...bucket.settings, prefix: "two/" }, { log });
  const id = newId();
  await one.put(id, bytesOf("one"), { bytesMax: 10 });
  assert.deepEqual(await Array.fromAsync(two.list()), []);
  assert.equal(await two.sizeBytes(id), undefined);
  assert.deepEqual(await bucket.keys(), [`one/media/${id}`]);
});

test("a put() in parts that fails leaves nothing in the bucket", async () => {
  const bucket = await openTestBucket(s3);
  await using store = await openS3Store(bucket.settings, { log });
  const parts = async function* (end: () => void): AsyncGenerator<Uint8Array> {
    for (let index = 0; index < 20; index += 1) yield Buffer.alloc(mebibyte, index);
    assert.equal((await bucket.unfinished()).length, 1);
    assert.deepEqual(await bucket.keys(), []);
    end();
    yield Buffer.alloc(1);
  };
  const stop = new AbortController();
  const rows: [end: () => void, bytesMax: number, error: object][] = [
    [() => assert.fail("cut"), 30 * mebibyte, { message: "cut" }],
    [() => {}, 20 * mebibyte, { httpStatus: 413 }],
    [() => stop.abort(new Error("stopped")), 30 * mebibyte, { message: "stopped" }],
  ];
  for (const [end, bytesMax, error] of rows) {
    const { signal } = stop;
    await assert.rejects(store.put(newId(), parts(end), { bytesMax, signal }), error);
    assert.deepEqual(await bucket.unfinished(), []);
    assert.deepEqual(await bucket.keys(), []);
  }
});

test("removed media that was stored in parts keeps its bytes", async () => {
  const { settings } = await openTestBucket(s3);
  await using store = await openS3Store(settings, { log, sweeps: false });
  const [id, bytes] = [newId(), Buffer.alloc(9 * mebibyte, "part")];
  await store.put(id, bytesOf(bytes), { bytesMax: bytes.length });
  await store.removed.add(id);
  assert.equal(await store.sizeBytes(id), undefined);
  await store.removed.putBack(id);
  assert.ok(bytes.equals(await buffer(await store.open(id))));
});

test("openS3Store() does not remove the parts of partial media, however old they are", async () => {
  const { settings, unfinished } = await openTestBucket(s3);
  const now = () => Date.now() + 3_600_000;
  const id = newId();
  const bytesMax = 20 * mebibyte;
  {
    await using store = await openS3Store(settings, { log });
    const bytes = bytesOf(Buffer.alloc(9 * mebibyte));
    await store.partial.append(id, 0, bytes, { bytesMax });
  }
  const target = { Bucket: settings.bucket, Key: `media/${newId()}` };
  await s3.client.send(new CreateMultipartUploadCommand(target));
  assert.equal((await unfinished()).length, 2);
  await using store = await openS3Store(settings, { log, now });
  await until(async () => (await unfinished()).length === 1);
  assert.deepEqual(await unfinished(), [`media/${id}`]);
  assert.equal(await store.partial.committedBytes(id), 9 * mebibyte);
});

test("openS3Store() removes the parts of stalled puts, and of no others", async () => {
  const { settings, unfinished } = await openTestBucket(s3);
  const begin = async (Key: string) => {
    const target = { Bucket: settings.bucket, Key };
    const { UploadId } = await s3.client.send(new CreateMultipartUploadCommand(target));
    await s3.client.send(
      new UploadPartCommand({ ...target, UploadId, PartNumber: 1, Body: Buffer.alloc(100) }),
    );
  };
  const left = [`media/${newId()}`, `media/${newId()}`];
  for (const key of [...left, "elsewhere/x"]) await begin(key);
  {
    await using _store = await openS3Store(settings, { log, now: () => Date.now() + 2_300_000 });
  }
  assert.equal((await unfinished()).length, 3);
  {
    await using store = await openS3Store(settings, { log, sweeps: false });
    const listed = await Array.fromAsync(store.unfinished?.() ?? []);
    const names = listed.map(({ name }) => `media/${name}`);
    assert.deepEqual(names.toSorted(), left.toSorted());
    for (const { since } of listed) assert.ok(Math.abs(since.getTime() - Date.now()) < 600_000);
    await listed[0]?.remove();
    assert.equal((await unfinished()).length, 2);
  }
  await using _store = await openS3Store(settings, { log, now: () => Date.now() + 2_500_000 });
  await until(async () => (await unfinished()).length === 1);
  assert.deepEqual(await unfinished(), ["elsewhere/x"]);
});

test("a killed S3 server causes clear errors and no partial objects, and the store recovers", async () => {
  const { settings, keys, unfinished } = await openTestBucket(s3);
  await using store = await openS3Store(settings, { log });
  const kept = newId();
  await store.put(kept, bytesOf("kept"), { bytesMax: 10 });
  const dead = Promise.withResolvers<void>();
  const halves = async function* (begun: () => void): AsyncGenerator<Uint8Array> {
    yield Buffer.alloc(8 * mebibyte, 1);
    begun();
    await dead.promise;
    yield Buffer.alloc(1000, 2);
  };
  const away = { code: "unavailable", reason: "STORAGE_UNAVAILABLE", retryAfterMs: 2_000 };
  const puts = Array.from({ length: 3 }, async () => {
    const begun = Promise.withResolvers<void>();
    const put = store.put(newId(), halves(begun.resolve), { bytesMax: 20 * mebibyte });
    await begun.promise;
    return { put: assert.rejects(put, away) };
  });
  const running = await Promise.all(puts);
  await s3.killObjects();
  try {
    dead.resolve();
    for (const { put } of running) await put;
    await assert.rejects(store.put(newId(), bytesOf("small"), { bytesMax: 10 }), away);
    await assert.rejects(store.open(kept), away);
  } finally {
    await s3.startObjects();
  }
  assert.deepEqual(await keys(), [`media/${kept}`]);
  assert.equal((await buffer(await store.open(kept))).toString(), "kept");
  await store.put(newId(), bytesOf("again"), { bytesMax: 10 });
  await using _swept = await openS3Store(settings, { log, now: () => Date.now() + 3_600_000 });
  await until(async () => (await unfinished()).length === 0);
});

interface Node extends AsyncDisposable {
  readonly store: MediaStore;
  readonly direct: DirectTransfers;
  readonly collector: UploadCollector;
  readonly uploads: Uploads;
}

/** Opens a node of the service with a bucket and the database shared by all tests. */
async function openNode(
  settings: Parameters<typeof openS3Store>[0],
  uploadBytesMax = mebibyte,
): Promise<Node> {
  await using opened = new AsyncDisposableStack();
  const store = opened.use(await openS3Store(settings, { log }));
  const { direct } = store;
  assert.ok(direct);
  const collector = opened.use(openUploadCollector({ ...app, store, direct, uploadBytesMax, log }));
  const uploads = createUploads({ ...app, store, collector, uploadBytesMax, log });
  const open = opened.move();
  return { store, direct, collector, uploads, [Symbol.asyncDispose]: () => open.disposeAsync() };
}

async function begin({ uploads }: Node): Promise<{ id: string; url: string }> {
  const begun = await uploads.begin(app.accountId, null);
  assert.ok(begun);
  return begun;
}

async function put(url: string, body: Buffer | string, headers = {}): Promise<void> {
  const answer = await fetch(url, { method: "PUT", body, headers });
  assert.equal(answer.status, 200, await answer.text());
}

async function mediaOf(uploadId: string) {
  return await app.db
    .selectFrom("upload")
    .innerJoin("media", "media.id", "upload.media_id")
    .where("upload.id", "=", uploadId)
    .selectAll("media")
    .executeTakeFirst();
}

/**
 * Waits until the bucket contains exactly these keys: a sweep other than the awaited one may be
 * running.
 */
async function untilKept(bucket: TestBucket, expected: readonly string[]): Promise<void> {
  await until(async () => isDeepStrictEqual(await bucket.keys(), expected));
}

test("received media is adopted without the client's metadata", async () => {
  const bucket = await openTestBucket(s3);
  await using node = await openNode(bucket.settings);
  const { id, url } = await begin(node);
  const wav = Buffer.alloc(100_000, 7);
  wav.write("RIFF----WAVEfmt ");
  await put(url, wav, { "content-type": "text/html", "content-encoding": "x" });
  await node.collector.collectUpload(app.accountId, id);
  const media = await mediaOf(id);
  assert.ok(media);
  assert.equal(media.content_type, "audio/wav");
  assert.equal(Number(media.size_bytes), wav.length);
  assert.equal(media.sha256, null);
  await untilKept(bucket, [`media/${media.id}`]);
  const as = { contentType: "audio/wav", disposition: "inline" } as const;
  const read = await fetch(await node.direct.downloadUrl(media.id, as));
  assert.equal(read.headers.get("content-type"), "audio/wav");
  assert.equal(read.headers.get("content-encoding"), null);
  assert.ok(Buffer.from(await read.arrayBuffer()).equals(wav));

  const empty = await begin(node);
  await put(empty.url, "");
  await node.collector.collectUpload(app.accountId, empty.id);
  assert.equal((await mediaOf(empty.id))?.size_bytes, "0");
});

test("only one of two nodes that find an upload concurrently collects it", async () => {
  const bucket = await openTestBucket(s3);
  await using one = await openNode(bucket.settings);
  await using two = await openNode(bucket.settings);
  const { id, url } = await begin(one);
  await put(url, "hello");
  await Promise.all([one, two].map(async ({ collector }) => await collector.collectAll()));
  const media = await mediaOf(id);
  assert.ok(media);
  await untilKept(bucket, [`media/${media.id}`]);
});

test("collectAll() collects received media, deletes media that is too large or already used, and sets aside the rest", async () => {
  const bucket = await openTestBucket(s3);
  await using node = await openNode(bucket.settings, 1000);
  const [good, large, gone] = [await begin(node), await begin(node), await begin(node)];
  await put(good.url, "good");
  await put(large.url, Buffer.alloc(1001));
  await put(gone.url, "gone");
  await app.db.deleteFrom("upload").where("id", "=", gone.id).execute();
  await node.collector.collectAll();
  const media = await mediaOf(good.id);
  assert.ok(media);
  assert.equal(await mediaOf(large.id), undefined);
  const kept = [`media/${media.id}`, `removed/${gone.id}`];
  await untilKept(bucket, kept);

  await put(good.url, "something else");
  await node.collector.collectAll();
  await untilKept(bucket, kept);
  assert.equal((await buffer(await node.store.open(media.id))).toString(), "good");
  await put(large.url, "not so large");
  await node.collector.collectUpload(app.accountId, large.id);
  assert.equal(Number((await mediaOf(large.id))?.size_bytes), 12);
});

test("media over its account's limit is deleted, and its submission is refused", async () => {
  const bucket = await openTestBucket(s3);
  await using node = await openNode(bucket.settings);
  const { id, url } = await begin(node);
  const has = await storedBytes(app.db, app.accountId);
  const setLimit = async (bytes: number): Promise<unknown> =>
    app.db
      .updateTable("account")
      .set({ limits: JSON.stringify({ storedBytes: has + bytes }) })
      .execute();
  await setLimit(10);
  await put(url, "eleven char");
  await assert.rejects(node.collector.collectUpload(app.accountId, id), {
    code: "resource_exhausted",
    reason: "STORAGE_LIMIT",
  });
  await untilKept(bucket, []);
  await put(url, "ten chars.");
  await node.collector.collectUpload(app.accountId, id);
  assert.equal(await storedBytes(app.db, app.accountId), has + 10);
  await assert.rejects(node.uploads.begin(app.accountId, null), { reason: "STORAGE_LIMIT" });
  await app.db.updateTable("account").set({ limits: "{}" }).execute();
});
