// What a backup and a restore do when media, members of the backup, the disk or the place are not
// as they should be.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
  appendFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { sql } from "kysely";
import { findBackups } from "../../src/backup/backup-folder.ts";
import {
  checksumsFile,
  manifestFile,
  mediaPath,
  tablePath,
} from "../../src/backup/backup-format.ts";
import { keptTables, leftOutTables } from "../../src/backup/kept-tables.ts";
import { makeBackup, type BackupOptions, type BackupParts } from "../../src/backup/make-backup.ts";
import { restoreBackup } from "../../src/backup/restore-backup.ts";
import { problemsOf } from "../../src/backup/verify-backup.ts";
import { openDatabase, type Database } from "../../src/database/database.ts";
import { openDiskStore } from "../../src/media/disk-store.ts";
import { withHolds } from "../../src/media/media-hold.ts";
import { deleteBytes } from "../../src/media/media-records.ts";
import type { MediaStore } from "../../src/media/media-store.ts";
import { newId } from "../../src/std/ids.ts";
import { createLog } from "../../src/std/log.ts";
import { withSmallDisk } from "../fault/small-disk.ts";
import { seedPostgres } from "../fixtures/seed-postgres.ts";

const log = createLog("silent");
const parts = new AsyncDisposableStack();
let folder: string;
let database: Database;
let store: MediaStore;
let archive: BackupParts;
let accountId: string;
/** A whole backup of two recordings. */
let whole: string;
let ids: readonly string[];

before(async () => {
  folder = mkdtempSync(join(tmpdir(), "hlust-backup-damage-"));
  parts.defer(() => rmSync(folder, { recursive: true, force: true }));
  const postgres = join(folder, "data/postgres");
  await seedPostgres(postgres);
  const own = { url: undefined, folder: postgres, log, durable: false };
  database = parts.use(await openDatabase(own));
  const disk = parts.use(await openDiskStore(join(folder, "data/media"), { log }));
  store = withHolds(disk, { db: database.db, log });
  archive = { db: database.db, connect: database.connect, store };
  accountId = newId();
  await database.db.insertInto("account").values({ id: accountId, display_name: "á" }).execute();
  ids = [await addMedia("first"), await addMedia("second")];
  whole = (await backUp("whole")).folder;
});
after(() => parts.disposeAsync());

async function* bytesOf(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

async function addMedia(text: string): Promise<string> {
  const id = newId();
  const { sizeBytes, sha256 } = await store.put(id, bytesOf(text), { bytesMax: 1_000_000 });
  await database.db
    .insertInto("media")
    .values({ id, account_id: accountId, size_bytes: sizeBytes, sha256, content_type: "audio/wav" })
    .execute();
  return id;
}

async function removeMedia(id: string): Promise<void> {
  await database.db.deleteFrom("media").where("id", "=", id).execute();
  await deleteBytes({ store, log }, [id], "transcript_deleted");
}

async function backUp(
  name: string,
  options: Partial<BackupOptions> = {},
  from: Partial<BackupParts> = {},
) {
  return await makeBackup(
    { ...archive, ...from },
    {
      target: join(folder, name),
      withMedia: true,
      allowsDamage: false,
      models: [],
      onProgress: () => {},
      ...options,
    },
  );
}

const settingsOf = (name: string) => ({
  dataFolder: join(folder, name),
  database: { url: undefined },
  s3: undefined,
});

async function restore(backup: string, name: string, asCopy = false) {
  await seedPostgres(join(folder, name, "postgres"));
  return await restoreBackup(backup, settingsOf(name), { asCopy, onProgress: () => {} });
}

describe("makeBackup()", () => {
  it("decides for each table of the database whether it is kept", async () => {
    const { rows } = await sql<{ name: string }>`
      select tablename as name from pg_tables where schemaname = 'public'`.execute(database.db);
    const known = [...keptTables, ...Object.keys(leftOutTables)];
    assert.deepEqual(rows.map(({ name }) => name).toSorted(), known.toSorted());
    const sequences = await sql`select from pg_sequences`.execute(database.db);
    assert.equal(sequences.rows.length, 0, "the values of sequences are not kept");
  });

  it("has the media that is deleted while it is being made", async () => {
    const id = await addMedia("deleted meanwhile");
    const reached = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    const slow: MediaStore = {
      ...store,
      // Without file(), media is copied.
      file: undefined as never,
      async open(each, range) {
        reached.resolve();
        await goOn.promise;
        return await store.open(each, range);
      },
    };
    const making = backUp("meanwhile", {}, { store: slow });
    await reached.promise;
    await removeMedia(id);
    goOn.resolve();
    const { folder: made, sources } = await making;
    assert.equal(readFileSync(join(made, mediaPath(id)), "utf8"), "deleted meanwhile");
    assert.deepEqual(sources, { reused: 0, linked: 0, copied: 3 });
    assert.equal(await store.sizeBytes(id), 17, "the deletion is deferred");
    await restore(made, "restored-meanwhile");
    const place = join(folder, "restored-meanwhile/media/finished", id.slice(-2), id);
    assert.equal(readFileSync(place, "utf8"), "deleted meanwhile");
    await store.delete(id);
  });

  it("names missing and altered media, and leaves them out if that is allowed", async () => {
    const [missing, altered] = [await addMedia("missing"), await addMedia("altered")];
    rmSync(store.file?.(missing) ?? "");
    writeFileSync(store.file?.(altered) ?? "", "Altered");
    const message = new RegExp(
      `lacks media/${missing}, and the bytes of media/${altered} are not those of their record`,
    );
    await assert.rejects(backUp("damaged"), message);
    assert.ok((await findBackups(join(folder, "damaged"))).every(({ isWhole }) => !isWhole));
    const { folder: made, manifest } = await backUp("damaged", { allowsDamage: true });
    assert.deepEqual([manifest.media?.missing, manifest.media?.altered], [[missing], [altered]]);
    assert.equal(manifest.media?.count, 3);
    assert.deepEqual(
      await Array.fromAsync(problemsOf(made, { readsMedia: true, onProgress: () => {} })),
      [],
    );
    const restored = await restore(made, "restored-damaged");
    assert.equal(restored.manifest.media?.count, 3);
    for (const id of [missing, altered]) await removeMedia(id);
  });

  it("says that a disk is full, and leaves nothing there", async (context) => {
    const disk = join(folder, "small");
    const bytes = 1 << 20;
    await withSmallDisk(
      context,
      { folder: disk, bytes, file: import.meta.filename },
      async (small) => {
        const id = await addMedia("x".repeat(900_000));
        small.fill(500_000);
        const target = join(disk, "backups");
        await assert.rejects(
          backUp("", { target }),
          /the backup cannot be written to .*small\/backups: the disk is full \(ENOSPC\)/,
        );
        assert.deepEqual(await findBackups(target), []);
        small.makeRoom();
        spawnSync("mount", ["-o", "remount,ro", disk]);
        await assert.rejects(backUp("", { target }), /read-only \(EROFS\)/);
        await removeMedia(id);
      },
    );
  });

  it("refuses a target that is no folder, and one in which a backup is being made", async () => {
    writeFileSync(join(folder, "file"), "");
    await assert.rejects(backUp("file"), /cannot be written to .*file: it is not a folder/);
    const [first, second] = await Promise.allSettled([backUp("twice"), backUp("twice")]);
    assert.deepEqual([first.status, second.status].toSorted(), ["fulfilled", "rejected"]);
    const failed = first.status === "rejected" ? first : second;
    assert.match(
      String(failed.status === "rejected" && failed.reason),
      /another backup is being made in/,
    );
  });
});

describe("a backup that was cut or altered", () => {
  const flip = (file: string): void => {
    const bytes = readFileSync(file);
    const at = bytes.length >> 1;
    bytes[at] = (bytes[at] ?? 0) ^ 1;
    writeFileSync(file, bytes);
  };
  const rows: [
    what: string,
    path: () => string,
    damage: (file: string) => void,
    message: RegExp,
  ][] = [
    [
      "a table with a changed bit",
      () => tablePath("account"),
      flip,
      /^tables\/account\.copy\.zst was cut or altered: the SHA-256/m,
    ],
    [
      "a cut table",
      () => tablePath("account"),
      (file) => truncateSync(file, 20),
      /^tables\/account\.copy\.zst was cut: it has 20 of \d+ bytes$/m,
    ],
    [
      "a missing table",
      () => tablePath("media"),
      (file) => rmSync(file),
      /^tables\/media\.copy\.zst is missing$/m,
    ],
    [
      "media with a changed bit",
      () => mediaPath(ids[0] ?? ""),
      flip,
      /^media\/..\/\S+ was cut or altered/m,
    ],
    [
      "cut media",
      () => mediaPath(ids[1] ?? ""),
      (file) => truncateSync(file, 2),
      /^media\/..\/\S+ was cut or altered: the SHA-256 of its 2 bytes/m,
    ],
    [
      "missing media",
      () => mediaPath(ids[1] ?? ""),
      (file) => rmSync(file),
      /^media\/..\/\S+ is missing$/m,
    ],
    [
      "a changed manifest",
      () => manifestFile,
      (file) =>
        writeFileSync(file, readFileSync(file, "utf8").replace('"hlust": "', '"hlust": "9')),
      /^manifest\.json was cut or altered/m,
    ],
    [
      "a cut manifest",
      () => manifestFile,
      (file) => truncateSync(file, 50),
      /manifest\.json was cut or altered: it is not a manifest/,
    ],
    [
      "no manifest",
      () => manifestFile,
      (file) => rmSync(file),
      /is not a backup: it has no manifest\.json/,
    ],
    [
      "cut checksums",
      () => checksumsFile,
      (file) => truncateSync(file, statSync(file).size - 10),
      /SHA256SUMS was cut or altered/,
    ],
    [
      "checksums without their last line",
      () => checksumsFile,
      (file) => writeFileSync(file, readFileSync(file, "utf8").replace(/#.*\n$/, "")),
      /SHA256SUMS was cut or altered/,
    ],
    [
      "no checksums",
      () => checksumsFile,
      (file) => rmSync(file),
      /is not whole: it has no SHA256SUMS/,
    ],
    [
      "more after the checksums",
      () => checksumsFile,
      (file) => appendFileSync(file, "x\n"),
      /SHA256SUMS was cut or altered/,
    ],
  ];
  for (const [index, [what, path, damage, message]] of rows.entries()) {
    it(`is not restored, and the damage is named: ${what}`, async () => {
      const copy = join(folder, "altered", `${index}`);
      cpSync(whole, copy, { recursive: true });
      damage(join(copy, path()));
      const options = { asCopy: false, onProgress: () => {} };
      await assert.rejects(restoreBackup(copy, settingsOf("untouched"), options), (error) => {
        assert.ok(error instanceof Error);
        assert.match(error.message, message);
        return true;
      });
      assert.throws(() => statSync(join(folder, "untouched")), /ENOENT/);
    });
  }
});

describe("restoreBackup()", () => {
  it("refuses a database with rows and a store with media, and names them", async () => {
    const own = settingsOf("data");
    const options = { asCopy: false, onProgress: () => {} };
    await assert.rejects(
      restoreBackup(whole, own, options),
      /own database in .* is not empty: it has rows \(1 in account, 2 in media\)\. Nothing was changed/,
    );
    const full = settingsOf("full");
    await using other = await openDiskStore(join(full.dataFolder, "media"), { log });
    await other.put(newId(), bytesOf("other"), { bytesMax: 10 });
    await assert.rejects(
      restoreBackup(whole, full, options),
      /has 1 media that the backup does not have/,
    );
    assert.deepEqual(readdirSync(full.dataFolder), ["media"]);
  });

  it("refuses a backup of a newer Hlust", async () => {
    const newer = (change: (manifest: string) => string, message: RegExp, name: string) => {
      const copy = join(folder, name);
      cpSync(whole, copy, { recursive: true });
      const file = join(copy, manifestFile);
      writeFileSync(file, change(readFileSync(file, "utf8")));
      return assert.rejects(
        restoreBackup(copy, settingsOf("untouched"), { asCopy: false, onProgress: () => {} }),
        message,
      );
    };
    await newer(
      (text) => text.replace('"0001_first"', '"0001_first", "9999_later"'),
      /was made by a newer Hlust, \S+: it has the migration 9999_later/,
      "later-schema",
    );
    await newer(
      (text) => text.replace('"formatVersion": 1', '"formatVersion": 2'),
      /was made by a newer Hlust, \S+: its format is 2/,
      "later-format",
    );
  });

  it("continues a restore that was interrupted after some media", async () => {
    const settings = settingsOf("interrupted");
    {
      await using started = await openDiskStore(join(settings.dataFolder, "media"), { log });
      const [id = ""] = ids;
      await started.adopt?.(id, join(whole, mediaPath(id)));
    }
    const restored = await restore(whole, "interrupted");
    assert.equal(restored.manifest.media?.count, 2);
    for (const id of ids) {
      const place = join(settings.dataFolder, "media/finished", id.slice(-2), id);
      assert.ok(statSync(place).size > 0);
    }
  });

  it("copies media that cannot be linked", async (context) => {
    const disk = join(folder, "other-disk");
    const bytes = 8 << 20;
    await withSmallDisk(context, { folder: disk, bytes, file: import.meta.filename }, async () => {
      const { folder: made, sources } = await backUp("", { target: join(disk, "backups") });
      assert.deepEqual(sources, { reused: 0, linked: 0, copied: 2 });
      const again = await backUp("", { target: join(disk, "backups") });
      assert.deepEqual(again.sources, { reused: 2, linked: 0, copied: 0 });
      await restore(made, "from-other-disk");
      const [id = ""] = ids;
      const place = join(folder, "from-other-disk/media/finished", id.slice(-2), id);
      assert.equal(readFileSync(place, "utf8"), "first");
    });
  });
});
