import { createHash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makeBackup, type BackupOptions, type BackupParts } from "../../src/backup/make-backup.ts";
import { restoreBackup } from "../../src/backup/restore-backup.ts";
import { openDatabase, type Database } from "../../src/database/database.ts";
import { openDiskStore } from "../../src/media/disk-store.ts";
import { withHolds } from "../../src/media/media-hold.ts";
import { deleteBytes } from "../../src/media/media-records.ts";
import type { MediaStore } from "../../src/media/media-store.ts";
import { newId } from "../../src/std/ids.ts";
import { createLog } from "../../src/std/log.ts";
import { seedPostgres } from "../fixtures/seed-postgres.ts";

/** An archive of an account with two recordings, to be backed up and restored in this process. */
export type SmallArchive = Awaited<ReturnType<typeof openSmallArchive>>;

/** Opens an archive in a folder of its own; disposing of it deletes the folder. */
export async function openSmallArchive() {
  await using opened = new AsyncDisposableStack();
  const log = createLog("silent");
  const folder = mkdtempSync(join(tmpdir(), "hlust-small-archive-"));
  opened.defer(() => rmSync(folder, { recursive: true, force: true }));
  const postgres = join(folder, "data/postgres");
  await seedPostgres(postgres);
  const own = { url: undefined, folder: postgres, log, durable: false };
  const database: Database = opened.use(await openDatabase(own));
  const { db } = database;
  const disk = opened.use(await openDiskStore(join(folder, "data/media"), { log }));
  const store: MediaStore = withHolds(disk, { db, log });
  const accountId = newId();
  await db.insertInto("account").values({ id: accountId, display_name: "á" }).execute();

  const addMedia = async (text: string): Promise<string> => {
    const id = newId();
    const { sizeBytes } = await store.put(id, bytesOf(text), { bytesMax: 1_000_000 });
    const sha256 = createHash("sha256").update(text).digest();
    const facts = { size_bytes: sizeBytes, sha256, content_type: "audio/wav" };
    await db
      .insertInto("media")
      .values({ id, account_id: accountId, ...facts })
      .execute();
    return id;
  };
  const settingsOf = (name: string) => ({
    dataFolder: join(folder, name),
    database: { url: undefined },
    s3: undefined,
  });
  const ids = [await addMedia("first"), await addMedia("second")];
  const parts = opened.move();
  return {
    folder,
    db,
    store,
    accountId,
    /** The ids of the two recordings. */
    ids,
    addMedia,
    async removeMedia(id: string): Promise<void> {
      await db.deleteFrom("media").where("id", "=", id).execute();
      await deleteBytes({ store, log }, [id], "transcript_deleted");
    },
    /** Makes a backup in a folder of this name. */
    async backUp(
      name: string,
      options: Partial<BackupOptions> = {},
      from: Partial<BackupParts> = {},
    ) {
      return await makeBackup(
        { db, connect: database.connect, store, ...from },
        {
          target: join(folder, name),
          withMedia: true,
          allowsDamage: false,
          models: [],
          onProgress: () => {},
          ...options,
        },
      );
    },
    settingsOf,
    /** Restores a backup into a data folder of this name. */
    async restore(backup: string, name: string, asCopy = false) {
      await seedPostgres(join(folder, name, "postgres"));
      return await restoreBackup(backup, settingsOf(name), { asCopy, onProgress: () => {} });
    },
    [Symbol.asyncDispose]: async () => await parts.disposeAsync(),
  };
}

export async function* bytesOf(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}
