// Backups in a bucket: of media in the same S3-compatible store and on disk, restored, pruned, cut,
// and killed.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { spawn } from "node:child_process";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { ClientRequest } from "node:http";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, before, test } from "node:test";
import { DeleteObjectCommand, PutObjectCommand } from "@aws-sdk/client-s3";
import { settleArchive } from "../../src/media/archive-identity.ts";
import { makeBucketBackup } from "../../src/backup/bucket/make-bucket-backup.ts";
import { withFetched } from "../../src/backup/bucket/fetched-backup.ts";
import type { MadeBackup } from "../../src/backup/make-backup.ts";
import { restoreBackup } from "../../src/backup/restore-backup.ts";
import { problemsOf } from "../../src/backup/verify-backup.ts";
import { openDatabase } from "../../src/database/database.ts";
import { openArchive } from "../../src/media/open-archive.ts";
import { openMediaStore } from "../../src/media/open-media-store.ts";
import { newId } from "../../src/std/ids.ts";
import { createLog } from "../../src/std/log.ts";
import { contentOf } from "../fixtures/archive-content.ts";
import { openTestBucket, type TestBucket } from "../fixtures/open-test-bucket.ts";
import { openTestS3, type TestS3 } from "../fixtures/open-test-s3.ts";
import { runHlust } from "../fixtures/run-hlust.ts";
import { seedPostgres } from "../fixtures/seed-postgres.ts";
import { until } from "../fixtures/until.ts";

const log = createLog("silent");
const hlustProgram = resolve(import.meta.dirname, "../../bin/hlust");
let folder: string;
let s3: TestS3;
/** The bucket of the backups. */
let target: TestBucket;
before(async () => {
  folder = mkdtempSync(join(tmpdir(), "hlust-backup-bucket-"));
  s3 = await openTestS3();
  target = await openTestBucket(s3);
});
after(async () => {
  await s3[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

const ofBackups = () => ({
  HLUST_BACKUP_S3_ENDPOINT: s3.endpoint,
  HLUST_BACKUP_S3_ACCESS_KEY_ID: s3.accessKeyId,
  HLUST_BACKUP_S3_SECRET_ACCESS_KEY: s3.secretAccessKey,
});

/** A place of an archive: on disk, or with its media in a bucket. */
async function placeIn(name: string, bucket?: TestBucket) {
  const dataFolder = join(folder, name);
  await seedPostgres(join(dataFolder, "postgres"));
  const own = bucket && {
    S3_BUCKET: bucket.settings.bucket,
    S3_ENDPOINT: s3.endpoint,
    S3_ACCESS_KEY_ID: s3.accessKeyId,
    S3_SECRET_ACCESS_KEY: s3.secretAccessKey,
  };
  return {
    settings: { dataFolder, database: { url: undefined }, s3: bucket?.settings },
    environment: { HLUST_DATA: dataFolder, ...ofBackups(), ...own },
  };
}
type Place = Awaited<ReturnType<typeof placeIn>>;

async function* bytesOf(bytes: Buffer): AsyncGenerator<Uint8Array> {
  yield bytes;
}

/** Adds media of these sizes to an archive, marks its store, and returns the ids. */
async function fill({ settings }: Place, sizes: readonly number[]): Promise<readonly string[]> {
  const postgres = { url: undefined, folder: join(settings.dataFolder, "postgres"), log };
  await using database = await openDatabase({ ...postgres, durable: false });
  await using store = await openMediaStore(settings, { log, sweeps: false });
  const { db } = database;
  await settleArchive({ db, store, settings, log });
  const accountId = newId();
  await db.insertInto("account").values({ id: accountId, display_name: "" }).execute();
  const ids: string[] = [];
  for (const size of sizes) {
    const id = newId();
    const bytes = Buffer.alloc(size, id);
    await store.put(id, bytesOf(bytes), { bytesMax: Math.max(1, size) });
    const sha256 = createHash("sha256").update(bytes).digest();
    const facts = { size_bytes: size, sha256, content_type: "audio/wav" };
    await db
      .insertInto("media")
      .values({ id, account_id: accountId, ...facts })
      .execute();
    ids.push(id);
  }
  return ids;
}

async function hlust({ environment }: Pick<Place, "environment">, ...args: string[]) {
  return await runHlust(args, environment);
}

const onProgress = (): void => {};
const accessOf = ({ settings: { s3: own } }: Place) => ({ access: target.settings, own });

/** Makes a backup in the bucket of backups. */
async function backUp(place: Place, url: string, keep?: number): Promise<MadeBackup> {
  await using archive = await openArchive(place.settings);
  return await makeBucketBackup(archive, {
    ...accessOf(place),
    target: url,
    keep,
    withMedia: true,
    allowsDamage: false,
    models: [],
    onProgress,
  });
}

/** Reads a backup to its end, and returns the files that are not as they were written. */
async function problemsIn(place: Place, url: string): Promise<readonly string[]> {
  return await withFetched(url, accessOf(place), async ({ folder: from, media }) => {
    const options = { readsMedia: true, onProgress, media };
    return await Array.fromAsync(problemsOf(from, options), ({ path, what }) => `${path} ${what}`);
  });
}

async function restore(place: Place, url: string): Promise<void> {
  await withFetched(url, accessOf(place), async ({ folder: from, media }) => {
    await restoreBackup(from, place.settings, { asCopy: false, onProgress, media });
  });
}

async function sameContent(a: Place, b: Place): Promise<void> {
  await using one = await openArchive(a.settings);
  await using other = await openArchive(b.settings);
  assert.deepEqual(other.quarantine, []);
  assert.deepEqual(await contentOf(other.db, other.store), await contentOf(one.db, one.store));
}

/** Counts the requests of this process that let the store copy an object. */
function countCopies() {
  let count = 0;
  const onRequest = (message: unknown): void => {
    const request: unknown = Reflect.get(Object(message), "request");
    if (request instanceof ClientRequest && request.hasHeader("x-amz-copy-source")) count += 1;
  };
  subscribe("http.client.request.start", onRequest);
  return {
    sent: () => count,
    [Symbol.dispose]: () => void unsubscribe("http.client.request.start", onRequest),
  };
}

test("media of a bucket is copied by its store into another bucket, and restored", async () => {
  const url = `s3://${target.settings.bucket}/bucket`;
  const place = await placeIn("in-bucket", await openTestBucket(s3));
  const ids = await fill(place, [0, 1, 70_000, 9_000_000]);
  using copies = countCopies();
  const first = await backUp(place, url);
  assert.deepEqual(first.sources, { reused: 0, linked: 0, copied: 4 });
  assert.equal(copies.sent(), 3, "the empty one needs no copy");
  const [more = ""] = await fill(place, [300]);
  const second = await backUp(place, url);
  assert.deepEqual(second.sources, { reused: 4, linked: 0, copied: 1 });
  assert.ok(second.folder.startsWith(`${url}/`));
  assert.deepEqual(await problemsIn(place, second.folder), []);

  const restored = await placeIn("bucket-restored", await openTestBucket(s3));
  const before = copies.sent();
  await restore(restored, second.folder);
  assert.ok(copies.sent() > before);
  await sameContent(place, restored);

  // Media that no backup lists any more is deleted with the backup that listed it.
  const [gone = ""] = ids.slice(2);
  {
    await using archive = await openArchive(place.settings);
    await archive.db.deleteFrom("media").where("id", "=", gone).execute();
  }
  const third = await backUp(place, url, 1);
  assert.equal(third.deleted.length, 2);
  const keys = (await target.keys()).filter((key) => key.startsWith("bucket/media/"));
  assert.ok(keys.some((key) => key.endsWith(more)));
  assert.ok(!keys.some((key) => key.endsWith(gone)));
  assert.deepEqual(await problemsIn(place, third.folder), []);
});

test("media on disk is backed up into a bucket, and damage of it is named and restored nowhere", async () => {
  const url = `s3://${target.settings.bucket}/disk`;
  const place = await placeIn("on-disk");
  const [small = "", large = ""] = await fill(place, [300, 9_000_000]);
  const made = await backUp(place, url);
  const restored = await placeIn("disk-restored");
  await restore(restored, made.folder);
  await sameContent(place, restored);

  const Bucket = target.settings.bucket;
  const keyOf = (id: string) => `disk/media/${id.slice(-2)}/${id}`;
  await s3.client.send(new PutObjectCommand({ Bucket, Key: keyOf(small), Body: "other" }));
  await s3.client.send(new DeleteObjectCommand({ Bucket, Key: keyOf(large) }));
  const problems = (await problemsIn(place, made.folder)).join("\n");
  assert.match(problems, new RegExp(`^media/../${small} was cut or altered: `, "m"));
  assert.match(problems, new RegExp(`^media/../${large} is missing$`, "m"));
  await assert.rejects(
    restore(await placeIn("refused"), made.folder),
    /^BackupError: s3:\/\/\S+Z cannot be restored\. Nothing was changed/,
  );
  // The next backup repairs what the bucket has lost.
  const again = await backUp(place, url);
  assert.deepEqual(again.sources, { reused: 0, linked: 0, copied: 2 });
  assert.deepEqual(await problemsIn(place, again.folder), []);
});

test("a backup that is killed is named as not whole, and the next one takes over its media", async () => {
  const url = `s3://${target.settings.bucket}/killed`;
  const place = await placeIn("killed");
  await fill(place, [8_000_000, 8_000_000, 8_000_000, 8_000_000, 8_000_000, 8_000_000]);
  const child = spawn(hlustProgram, ["backup", url], {
    env: { ...process.env, ...place.environment },
    stdio: "ignore",
  });
  await until(
    async () => (await target.keys()).some((key) => key.startsWith("killed/media/")),
    90_000,
  );
  child.kill("SIGKILL");
  await once(child, "exit");
  const none = await hlust(place, "backup", "list", url);
  assert.ok(none.code === 1 || /not whole/.test(none.out), none.out);
  const made = await backUp(place, url);
  const { reused = 0, copied = 0 } = made.sources ?? {};
  assert.ok(reused > 0);
  assert.equal(reused + copied, 6);
  // What was killed while it wrote its last files is named as not whole.
  const Bucket = target.settings.bucket;
  const name = made.folder.slice(made.folder.lastIndexOf("/") + 1);
  await s3.client.send(new DeleteObjectCommand({ Bucket, Key: `killed/${name}/SHA256SUMS` }));
  const list = await hlust(place, "backup", "list", url);
  assert.equal(list.code, 1);
  assert.match(list.out, /not whole/);
  await assert.rejects(
    restore(await placeIn("not-whole"), made.folder),
    /^BackupError: s3:\/\/\S+Z is not whole: it has no SHA256SUMS/,
  );
});

test("addresses, buckets and prefixes that cannot be used are refused with words", async () => {
  const place = await placeIn("refusals");
  await fill(place, [1]);
  const rows: [args: string[], message: RegExp][] = [
    [
      ["backup", "s3:///x"],
      /"s3:\/\/\/x" is not the address of a bucket: .* s3:\/\/bucket\/prefix/,
    ],
    [["backup", "list", "s3://no-such-bucket/x"], /no bucket "no-such-bucket": create it first/],
    [["backup", "ftp://host/x"], /TARGET must be a folder or like s3:\/\/bucket\/prefix/],
    [["restore", `s3://${target.settings.bucket}/disk`], /is not the address of a backup/],
  ];
  await assert.rejects(
    backUp(place, `s3://${target.settings.bucket}/disk`),
    /has backups of another archive/,
  );
  await assert.rejects(
    restore(place, `s3://${target.settings.bucket}/disk/2020-01-01T00-00-00.000Z`),
    /2020-01-01T00-00-00.000Z is not a backup/,
  );
  for (const [args, message] of rows) {
    const ended = await hlust(place, ...args);
    assert.equal(ended.code, 2, args.join(" "));
    assert.match(ended.errors, message);
  }
});
