// A backup of media in an S3-compatible store, and its restore into another bucket.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { mediaPath } from "../../src/backup/backup-format.ts";
import { makeBackup } from "../../src/backup/make-backup.ts";
import { restoreBackup } from "../../src/backup/restore-backup.ts";
import { openDatabase } from "../../src/database/database.ts";
import { settleArchive } from "../../src/media/archive-identity.ts";
import { openArchive } from "../../src/media/open-archive.ts";
import { openMediaStore } from "../../src/media/open-media-store.ts";
import { newId } from "../../src/std/ids.ts";
import { createLog } from "../../src/std/log.ts";
import { contentOf } from "../fixtures/archive-content.ts";
import { openTestBucket } from "../fixtures/open-test-bucket.ts";
import { openTestS3, type TestS3 } from "../fixtures/open-test-s3.ts";
import { seedPostgres } from "../fixtures/seed-postgres.ts";

let folder: string;
let s3: TestS3;
before(async () => {
  folder = mkdtempSync(join(tmpdir(), "hlust-backup-s3-"));
  s3 = await openTestS3();
});
after(async () => {
  await s3[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

const log = createLog("silent");

async function settingsIn(name: string) {
  const bucket = await openTestBucket(s3);
  await seedPostgres(join(folder, name, "postgres"));
  return { dataFolder: join(folder, name), database: { url: undefined }, s3: bucket.settings };
}

async function* bytesOf(bytes: Buffer): AsyncGenerator<Uint8Array> {
  yield bytes;
}

/** Adds media of these sizes to an archive, and marks its store. */
async function fill(
  settings: Awaited<ReturnType<typeof settingsIn>>,
  sizes: readonly number[],
): Promise<void> {
  const postgres = { url: undefined, folder: join(settings.dataFolder, "postgres"), log };
  await using database = await openDatabase({ ...postgres, durable: false });
  await using store = await openMediaStore(settings, { log, sweeps: false });
  const { db } = database;
  await settleArchive({ db, store, settings, log });
  const accountId = newId();
  await db.insertInto("account").values({ id: accountId, display_name: "" }).execute();
  for (const size of sizes) {
    const id = newId();
    const bytes = Buffer.alloc(size, id);
    await store.put(id, bytesOf(bytes), { bytesMax: size });
    const sha256 = createHash("sha256").update(bytes).digest();
    const facts = { size_bytes: size, sha256, content_type: "audio/wav" };
    await db
      .insertInto("media")
      .values({ id, account_id: accountId, ...facts })
      .execute();
  }
}

test("media of a bucket is copied once, and restored into another bucket", async () => {
  const [settings, place] = [await settingsIn("original"), await settingsIn("restored")];
  await fill(settings, [0, 1, 70_000, 9_000_000, 300]);
  await using archive = await openArchive(settings);
  const options = {
    target: join(folder, "backups"),
    withMedia: true,
    allowsDamage: false,
    models: [],
    onProgress: () => {},
  };
  const first = await makeBackup(archive, options);
  assert.deepEqual(first.sources, { reused: 0, linked: 0, copied: 5 });
  const second = await makeBackup(archive, options);
  assert.deepEqual(second.sources, { reused: 5, linked: 0, copied: 0 });
  const [{ id }] = await archive.db
    .selectFrom("media")
    .where("size_bytes", "=", "300")
    .select("id")
    .execute()
    .then(([row]) => [row ?? assert.fail("no media")] as const);
  assert.deepEqual(readFileSync(join(second.folder, mediaPath(id))), Buffer.alloc(300, id));

  await restoreBackup(second.folder, place, { asCopy: false, onProgress: () => {} });
  await using restored = await openArchive(place);
  assert.deepEqual(restored.quarantine, []);
  assert.deepEqual(
    await contentOf(restored.db, restored.store),
    await contentOf(archive.db, archive.store),
  );
  await assert.rejects(
    restoreBackup(
      second.folder,
      { ...place, dataFolder: join(folder, "third") },
      { asCopy: true, onProgress: () => {} },
    ),
    /the bucket ".*" \(S3_BUCKET\) is not empty: it belongs to the archive /,
  );
});
