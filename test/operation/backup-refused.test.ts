// Backups that were cut or altered, and places that are not empty, are refused before anything is
// changed.
import assert from "node:assert/strict";
import {
  appendFileSync,
  cpSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import {
  checksumsFile,
  manifestFile,
  mediaPath,
  tablePath,
} from "../../src/backup/backup-format.ts";
import { restoreBackup } from "../../src/backup/restore-backup.ts";
import { openDiskStore } from "../../src/media/disk-store.ts";
import { newId } from "../../src/std/ids.ts";
import { createLog } from "../../src/std/log.ts";
import { runHlust } from "../fixtures/run-hlust.ts";
import { bytesOf, openSmallArchive, type SmallArchive } from "./small-archive.ts";

const log = createLog("silent");
let archive: SmallArchive;
/** A whole backup. */
let whole: string;
before(async () => {
  archive = await openSmallArchive();
  whole = (await archive.backUp("whole")).folder;
});
after(() => archive[Symbol.asyncDispose]());

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
      () => mediaPath(archive.ids[0] ?? ""),
      flip,
      /^media\/..\/\S+ was cut or altered/m,
    ],
    [
      "cut media",
      () => mediaPath(archive.ids[1] ?? ""),
      (file) => truncateSync(file, 2),
      /^media\/..\/\S+ was cut or altered: the SHA-256 of its 2 bytes/m,
    ],
    [
      "missing media",
      () => mediaPath(archive.ids[1] ?? ""),
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
      const copy = join(archive.folder, "altered", `${index}`);
      cpSync(whole, copy, { recursive: true });
      damage(join(copy, path()));
      const options = { asCopy: false, onProgress: () => {} };
      await assert.rejects(
        restoreBackup(copy, archive.settingsOf("untouched"), options),
        (error) => {
          assert.ok(error instanceof Error);
          assert.match(error.message, message);
          return true;
        },
      );
      assert.throws(() => statSync(join(archive.folder, "untouched")), /ENOENT/);
    });
  }
});

it("`hlust restore` names each damaged file, exits with 2, and makes nothing", async () => {
  const copy = join(archive.folder, "altered-twice");
  cpSync(whole, copy, { recursive: true });
  truncateSync(join(copy, tablePath("account")), 20);
  rmSync(join(copy, mediaPath(archive.ids[1] ?? "")));
  const place = join(archive.folder, "untouched");
  const { code, out, errors } = await runHlust(["restore", copy], { HLUST_DATA: place });
  assert.deepEqual([code, out], [2, ""]);
  const [first, ...files] = errors.trimEnd().split("\n");
  assert.equal(first, `hlust: ${copy} cannot be restored. Nothing was changed.`);
  assert.equal(files.length, 2);
  assert.match(files.join("\n"), /^tables\/account\.copy\.zst was cut: it has 20 of \d+ bytes$/m);
  assert.match(
    files.join("\n"),
    new RegExp(`^${mediaPath(archive.ids[1] ?? "")} is missing$`, "m"),
  );
  assert.throws(() => statSync(place), /ENOENT/);
});

describe("restoreBackup()", () => {
  it("refuses a database with rows and a store with media, and names them", async () => {
    const own = archive.settingsOf("with-rows");
    await archive.restore(whole, "with-rows");
    rmSync(join(own.dataFolder, "media"), { recursive: true });
    const options = { asCopy: false, onProgress: () => {} };
    await assert.rejects(
      restoreBackup(whole, own, options),
      /own database in .* is not empty: it has rows \(1 in account, 2 in media\)\. Nothing was changed/,
    );
    const full = archive.settingsOf("full");
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
      const copy = join(archive.folder, name);
      cpSync(whole, copy, { recursive: true });
      const file = join(copy, manifestFile);
      writeFileSync(file, change(readFileSync(file, "utf8")));
      return assert.rejects(
        restoreBackup(copy, archive.settingsOf("untouched"), {
          asCopy: false,
          onProgress: () => {},
        }),
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
    const settings = archive.settingsOf("interrupted");
    {
      await using started = await openDiskStore(join(settings.dataFolder, "media"), { log });
      const [id = ""] = archive.ids;
      await started.adopt?.(id, join(whole, mediaPath(id)));
    }
    const restored = await archive.restore(whole, "interrupted");
    assert.equal(restored.manifest.media?.count, 2);
    for (const id of archive.ids) {
      const place = join(settings.dataFolder, "media/finished", id.slice(-2), id);
      assert.ok(statSync(place).size > 0);
    }
  });
});
