// Measures the CPU time of a backup and a restore per GB of media: by links, by copies, again after
// a first backup, verified, and restored. The media are sparse files, so that 100 GB need no disk.
//
// Usage: npm run bench:backup [GB]
import { mkdirSync, mkdtempSync, openSync, closeSync, ftruncateSync, rmSync } from "node:fs";
import { createHash } from "node:crypto";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import process from "node:process";
import { sql } from "kysely";
import { makeBackup } from "../src/backup/make-backup.ts";
import { restoreBackup } from "../src/backup/restore-backup.ts";
import { problemsOf } from "../src/backup/verify-backup.ts";
import { openDatabase } from "../src/database/database.ts";
import { openDiskStore } from "../src/media/disk-store.ts";
import type { MediaStore } from "../src/media/media-store.ts";
import { newId } from "../src/std/ids.ts";
import { createLog } from "../src/std/log.ts";
import { report, reportMachine, type Figure } from "./report.ts";

const gigabytes = Number(process.argv[2] ?? 1);
/** A recording of ten minutes, as WAV of 16 kHz. */
const mediaBytes = 20_000_000;
const count = Math.max(1, Math.round((gigabytes * 1e9) / mediaBytes));
const log = createLog("silent");
const onProgress = (): void => {};

reportMachine();
const folder = mkdtempSync(join(tmpdir(), "hlust-bench-backup-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
await using database = await openDatabase({
  url: undefined,
  folder: join(folder, "data/postgres"),
  log,
  durable: false,
});
await using store = await openDiskStore(join(folder, "data/media"), { log });
await makeMedia();

const copying: MediaStore = {
  ...store,
  // A path that cannot be linked, as on another disk.
  file: () => "/proc/self/status",
};
const figures: Figure[] = [];
const linked = await measure(
  "link, read and compare",
  3,
  async () => await backUp(store, "linked"),
);
await measure("again, nothing new", 0.5, async () => await backUp(store, "linked"));
await measure("verify", 2, async () => {
  for await (const { path } of problemsOf(linked, { readsMedia: true, onProgress }))
    throw new Error(path);
});
// Sparse files are copied as whole ones, so a copy needs the disk.
if (gigabytes <= 5) {
  await measure("copy", 8, async () => await backUp(copying, "copied"));
}
await measure("restore by links", 3, async () => await restoreTo("restored"));
report(figures);

/** Makes media and its records: the files of the store have the same bytes, all of them zero. */
async function makeMedia(): Promise<void> {
  const hash = createHash("sha256");
  const chunk = Buffer.alloc(1_000_000);
  for (let at = 0; at < mediaBytes; at += chunk.length) hash.update(chunk);
  const sha256 = hash.digest();
  const accountId = newId();
  const { db } = database;
  await db.insertInto("account").values({ id: accountId, display_name: "" }).execute();
  const ids = Array.from({ length: count }, () => newId());
  for (const id of ids) {
    const path = store.file?.(id) ?? "";
    mkdirSync(dirname(path), { recursive: true });
    const descriptor = openSync(path, "w", 0o600);
    ftruncateSync(descriptor, mediaBytes);
    closeSync(descriptor);
  }
  await sql`insert into media (id, account_id, size_bytes, sha256, content_type)
    select id, ${accountId}, ${mediaBytes}, ${sha256}, 'audio/wav' from unnest(${ids}::uuid[]) id`.execute(
    db,
  );
}

async function backUp(from: MediaStore, name: string): Promise<string> {
  const parts = { db: database.db, connect: database.connect, store: from };
  const made = await makeBackup(parts, {
    target: join(folder, name),
    withMedia: true,
    allowsDamage: false,
    models: [],
    onProgress,
  });
  return made.folder;
}

async function restoreTo(name: string): Promise<void> {
  const settings = { dataFolder: join(folder, name), database: { url: undefined }, s3: undefined };
  await restoreBackup(linked, settings, { asCopy: false, onProgress });
}

async function measure<T>(name: string, ratioMax: number, act: () => Promise<T>): Promise<T> {
  const [began, before] = [performance.now(), process.cpuUsage()];
  const result = await act();
  const { user, system } = process.cpuUsage(before);
  const seconds = (user + system) / 1e6;
  const wallSeconds = (performance.now() - began) / 1e3;
  const note = `${seconds.toFixed(1)} s CPU, ${wallSeconds.toFixed(1)} s in all, ${count} media`;
  figures.push({ name, ratio: seconds / gigabytes, ratioMax, unit: "s CPU per GB", note });
  return result;
}
