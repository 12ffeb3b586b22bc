// What a backup is while media is deleted, missing or altered, and when its disk fails.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { sql } from "kysely";
import { findBackups } from "../../src/backup/backup-folder.ts";
import { mediaPath } from "../../src/backup/backup-format.ts";
import { keptTables, leftOutTables } from "../../src/backup/kept-tables.ts";
import { problemsOf } from "../../src/backup/verify-backup.ts";
import type { MediaStore } from "../../src/media/media-store.ts";
import { withSmallDisk } from "../fault/small-disk.ts";
import { runHlust } from "../fixtures/run-hlust.ts";
import { seedPostgres } from "../fixtures/seed-postgres.ts";
import { openSmallArchive, type SmallArchive } from "./small-archive.ts";

let archive: SmallArchive;
before(async () => {
  archive = await openSmallArchive();
});
after(() => archive[Symbol.asyncDispose]());

describe("makeBackup()", () => {
  it("decides for each table of the database whether it is kept", async () => {
    const { rows } = await sql<{ name: string }>`
      select tablename as name from pg_tables where schemaname = 'public'`.execute(archive.db);
    const known = [...keptTables, ...Object.keys(leftOutTables)];
    assert.deepEqual(rows.map(({ name }) => name).toSorted(), known.toSorted());
    const sequences = await sql`select from pg_sequences`.execute(archive.db);
    assert.equal(sequences.rows.length, 0, "the values of sequences are not kept");
  });

  it("has hard links to the media of the store, and to those of the backup that --since names", async () => {
    const first = await archive.backUp("linked");
    assert.deepEqual(first.sources, { reused: 0, linked: 2, copied: 0 });
    const more = await archive.addMedia("more");
    const since = await archive.backUp("elsewhere", { since: first.folder });
    assert.deepEqual(since.sources, { reused: 2, linked: 1, copied: 0 });
    for (const id of [...archive.ids, more]) {
      const { ino, nlink } = statSync(archive.store.file?.(id) ?? "");
      assert.ok(nlink > 1);
      assert.equal(statSync(join(since.folder, mediaPath(id))).ino, ino);
    }
    await archive.removeMedia(more);
  });

  it("fails if the hold on deletions was interrupted while media was copied", async () => {
    const { file: _file, openChunks: _openChunks, ...others } = archive.store;
    const late: MediaStore = {
      ...others,
      async open(...which) {
        // As after a minute in which the process was suspended.
        await sql`update media_hold set held_until = now() - interval '1 second'`.execute(
          archive.db,
        );
        return await archive.store.open(...which);
      },
    };
    await assert.rejects(
      archive.backUp("interrupted", {}, { store: late }),
      /the hold on deletions of media expired/,
    );
    const found = await findBackups(join(archive.folder, "interrupted"));
    assert.deepEqual(
      found.map(({ isWhole }) => isWhole),
      [false],
    );
  });

  it("has the media that is deleted while it is being made", async () => {
    const id = await archive.addMedia("deleted meanwhile");
    const reached = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    // Without file() and openChunks(), media is copied by open().
    const { file: _file, openChunks: _openChunks, ...others } = archive.store;
    const slow: MediaStore = {
      ...others,
      async open(each, range) {
        reached.resolve();
        await goOn.promise;
        return await archive.store.open(each, range);
      },
    };
    const making = archive.backUp("meanwhile", {}, { store: slow });
    await reached.promise;
    await archive.removeMedia(id);
    goOn.resolve();
    const { folder: made, sources } = await making;
    assert.equal(readFileSync(join(made, mediaPath(id)), "utf8"), "deleted meanwhile");
    assert.deepEqual(sources, { reused: 0, linked: 0, copied: 3 });
    assert.equal(await archive.store.sizeBytes(id), 17, "the deletion is deferred");
    await archive.restore(made, "restored-meanwhile");
    const place = join(archive.folder, "restored-meanwhile/media/finished", id.slice(-2), id);
    assert.equal(readFileSync(place, "utf8"), "deleted meanwhile");
    await archive.store.delete(id);
  });

  it("names missing and altered media, and leaves them out if that is allowed", async () => {
    const [missing, altered] = [
      await archive.addMedia("missing"),
      await archive.addMedia("altered"),
    ];
    rmSync(archive.store.file?.(missing) ?? "");
    writeFileSync(archive.store.file?.(altered) ?? "", "Altered");
    const message = new RegExp(
      `lacks media/${missing}, and the bytes of media/${altered} are not those of their record`,
    );
    await assert.rejects(archive.backUp("damaged"), message);
    assert.ok(
      (await findBackups(join(archive.folder, "damaged"))).every(({ isWhole }) => !isWhole),
    );
    const made = await archive.backUp("damaged", { allowsDamage: true });
    const { manifest } = made;
    assert.deepEqual([manifest.media?.missing, manifest.media?.altered], [[missing], [altered]]);
    assert.equal(manifest.media?.count, 3);
    assert.deepEqual(
      await Array.fromAsync(problemsOf(made.folder, { readsMedia: true, onProgress: () => {} })),
      [],
    );
    const restored = await archive.restore(made.folder, "restored-damaged");
    assert.equal(restored.manifest.media?.count, 3);
    const place = archive.settingsOf("restored-with-flaws").dataFolder;
    await seedPostgres(join(place, "postgres"));
    const ended = await runHlust(["restore", made.folder], { HLUST_DATA: place });
    assert.equal(ended.code, 1, ended.errors);
    assert.match(ended.out, new RegExp(`^Damaged: the media store lacks media/${missing}`, "m"));
    assert.match(ended.out, new RegExp(`^MEDIA_MISSING media/${missing}: `, "m"));
    for (const id of [missing, altered]) await archive.removeMedia(id);
  });

  it("says that a disk is full, and leaves nothing there", async (context) => {
    const disk = join(archive.folder, "small");
    const bytes = 1 << 20;
    await withSmallDisk(
      context,
      { folder: disk, bytes, file: import.meta.filename },
      async (small) => {
        const id = await archive.addMedia("x".repeat(900_000));
        small.fill(500_000);
        const target = join(disk, "backups");
        await assert.rejects(
          archive.backUp("", { target }),
          /the backup cannot be written to .*small\/backups: the disk is full \(ENOSPC\)/,
        );
        assert.deepEqual(await findBackups(target), []);
        small.makeRoom();
        spawnSync("mount", ["-o", "remount,ro", disk]);
        await assert.rejects(archive.backUp("", { target }), /read-only \(EROFS\)/);
        await archive.removeMedia(id);
      },
    );
  });

  it("refuses a target that is not a folder, and one in which a backup is being made", async () => {
    writeFileSync(join(archive.folder, "file"), "");
    await assert.rejects(archive.backUp("file"), /cannot be written to .*file: it is not a folder/);
    const [first, second] = await Promise.allSettled([
      archive.backUp("twice"),
      archive.backUp("twice"),
    ]);
    assert.deepEqual([first.status, second.status].toSorted(), ["fulfilled", "rejected"]);
    const failed = first.status === "rejected" ? first : second;
    assert.match(
      String(failed.status === "rejected" && failed.reason),
      /another backup is being made in/,
    );
  });

  it("copies media that cannot be linked", async (context) => {
    const disk = join(archive.folder, "other-disk");
    const bytes = 8 << 20;
    await withSmallDisk(context, { folder: disk, bytes, file: import.meta.filename }, async () => {
      const { folder: made, sources } = await archive.backUp("", { target: join(disk, "backups") });
      assert.deepEqual(sources, { reused: 0, linked: 0, copied: 2 });
      const again = await archive.backUp("", { target: join(disk, "backups") });
      assert.deepEqual(again.sources, { reused: 2, linked: 0, copied: 0 });
      await archive.restore(made, "from-other-disk");
      const [id = ""] = archive.ids;
      const place = join(archive.folder, "from-other-disk/media/finished", id.slice(-2), id);
      assert.equal(readFileSync(place, "utf8"), "first");
    });
  });
});
