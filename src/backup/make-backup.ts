import { createHash } from "node:crypto";
import { mkdir, open, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Kysely } from "kysely";
import type { Database } from "../database/database.ts";
import type { Tables } from "../database/tables.ts";
import { holdMedia, type MediaHold } from "../media/media-hold.ts";
import type { MediaStore } from "../media/media-store.ts";
import { codeOf, syncFolder } from "../media/synced-files.ts";
import { packageVersion } from "../std/version.ts";
import type { BackupMedia } from "./backup-media.ts";
import {
  BackupError,
  checksumsFile,
  manifestFile,
  manifestText,
  mediaPath,
  partialSuffix,
  readManifest,
  type Manifest,
  type MediaFacts,
  type ModelFacts,
} from "./backup-format.ts";
import { deleteOldBackups, explainTarget, findBackups, openBackupFolder } from "./backup-folder.ts";
import { backupName } from "./backup-names.ts";
import { ChecksumsWriter, readChecksums } from "./checksums.ts";
import { intoFolder, type CopyMedia, type EarlierBackup, type MediaSources } from "./copy-media.ts";
import { copyTables, type CopiedTables } from "./copy-tables.ts";
import type { OnProgress } from "./progress.ts";
import { problemsOf } from "./verify-backup.ts";

export interface BackupParts {
  readonly db: Kysely<Tables>;
  readonly connect: Database["connect"];
  readonly store: MediaStore;
}

export interface BackupOptions {
  /** The folder of backups. */
  readonly target: string;
  /** The number of whole backups that are left there; undefined: all. */
  readonly keep?: number | undefined;
  /** The backup whose media is linked; undefined: the newest whole one in `target`. */
  readonly since?: string | undefined;
  /** Whether media is copied. */
  readonly withMedia: boolean;
  /** Whether the backup succeeds although media is missing or altered. */
  readonly allowsDamage: boolean;
  readonly models: readonly ModelFacts[];
  readonly onProgress: OnProgress;
  readonly now?: () => number;
}

export interface MadeBackup {
  readonly folder: string;
  readonly manifest: Manifest;
  readonly sources: MediaSources | undefined;
  /** The names of the older backups that were deleted. */
  readonly deleted: readonly string[];
}

/**
 * Makes a backup while the service runs: the database as of one moment, and all media that it names
 * at that moment. The backup has its name only if it is whole. After a failure, except that of a
 * full disk, the next backup uses the media that was copied.
 */
export async function makeBackup(parts: BackupParts, options: BackupOptions): Promise<MadeBackup> {
  const { target, now = Date.now } = options;
  await using locked = await openBackupFolder(target);
  const found = await findBackups(locked.folder);
  const earlier = await earlierBackups(options, found);
  const folder = join(target, backupName(new Date(now())));
  const partial = folder + partialSuffix;
  try {
    await mkdir(join(partial, "tables"), { recursive: true, mode: 0o700 });
    const made = await writeBackup(parts, partial, { ...options, copyMedia: intoFolder(earlier) });
    await rename(partial, folder);
    await syncFolder(target);
    for (const { folder: left, isWhole } of found) {
      if (!isWhole) await rm(left, { recursive: true });
    }
    const { keep } = options;
    const deleted = keep === undefined ? [] : await deleteOldBackups(target, keep);
    return { ...made, folder, deleted };
  } catch (error) {
    if (codeOf(error) === "ENOSPC" || codeOf(error) === "EDQUOT") {
      await rm(partial, { recursive: true, force: true });
    }
    throw explainTarget(error, target);
  }
}

/** Returns the backups whose media can be linked: a whole one, and what interrupted ones left. */
async function earlierBackups(
  { since }: BackupOptions,
  found: Awaited<ReturnType<typeof findBackups>>,
): Promise<EarlierBackup[]> {
  const whole = since ?? found.findLast(({ isWhole }) => isWhole)?.folder;
  const earlier: EarlierBackup[] = [];
  if (whole !== undefined) earlier.push({ folder: whole, verified: await verifiedMedia(whole) });
  for (const { folder, isWhole } of found.toReversed()) {
    if (!isWhole) earlier.push({ folder, verified: new Map() });
  }
  return earlier;
}

/** Returns the SHA-256 of the unaltered media of a backup, by its path. */
export async function verifiedMedia(folder: string): Promise<ReadonlyMap<string, string>> {
  const { media } = await readManifest(folder);
  const verified = new Map<string, string>();
  for await (const { path, sha256 } of readChecksums(folder)) {
    if (path.startsWith("media/")) verified.set(path, sha256);
  }
  for (const id of media?.altered ?? []) verified.delete(mediaPath(id));
  return verified;
}

/** How a backup is written. */
export interface WriteOptions extends Pick<
  BackupOptions,
  "withMedia" | "allowsDamage" | "models" | "onProgress"
> {
  readonly copyMedia: CopyMedia;
  /** Where the media is, if not in the folder. */
  readonly media?: BackupMedia | undefined;
}

/** Writes a backup to an empty folder with a folder `tables`, and checks it. */
export async function writeBackup(
  parts: BackupParts,
  folder: string,
  options: WriteOptions,
): Promise<Pick<MadeBackup, "manifest" | "sources">> {
  const { withMedia, models, onProgress } = options;
  await using hold = withMedia ? await holdMedia(parts.db) : undefined;
  const {
    checksums: ofTables,
    media: recorded,
    ...facts
  } = await copyDatabase(parts, folder, options);
  await using checksums = await ChecksumsWriter.open(join(folder, checksumsFile));
  for (const each of ofTables) await checksums.add(each);
  const place = { folder, tables: facts.tables, checksums, totalBytes: recorded.bytes };
  const copied = hold && (await copyHeld(parts, hold, { ...options, ...place }));
  const media = copied?.media ?? null;
  const text = manifestText({ hlust: packageVersion(), ...facts, media, models });
  await writeSynced(join(folder, manifestFile), text);
  const sha256 = createHash("sha256").update(text).digest("hex");
  await checksums.add({ path: manifestFile, sha256 });
  await checksums.end();
  for (const each of [join(folder, "tables"), folder]) await syncFolder(each);
  // The bytes of media were compared when they were copied.
  for await (const { path, what } of problemsOf(folder, {
    readsMedia: false,
    onProgress,
    media: options.media,
  })) {
    throw new BackupError(`the backup was not written correctly: ${path} ${what}`);
  }
  return { manifest: await readManifest(folder), sources: copied?.sources };
}

async function copyDatabase(
  { connect }: BackupParts,
  folder: string,
  { onProgress }: WriteOptions,
): Promise<CopiedTables> {
  const client = await connect("hlust backup");
  try {
    return await copyTables(client, folder, (done, total) => {
      onProgress({ phase: "tables", done, total, unit: "tables" });
    });
  } finally {
    await client.end();
  }
}

/**
 * Copies the media under a hold. Rejects if the hold was interrupted, or if media is damaged and
 * that is not allowed.
 */
async function copyHeld(
  { store }: BackupParts,
  hold: MediaHold,
  options: WriteOptions & {
    readonly folder: string;
    readonly tables: Manifest["tables"];
    readonly checksums: ChecksumsWriter;
    readonly totalBytes: number;
  },
): Promise<{ readonly media: MediaFacts; readonly sources: MediaSources }> {
  const { allowsDamage, onProgress, totalBytes: total } = options;
  let done = 0;
  const onMedia = (bytes: number): void => {
    done += bytes;
    onProgress({ phase: "media", done, total, unit: "bytes" });
  };
  const { sources, ...media } = await options.copyMedia({ ...options, store, onMedia });
  await hold.confirm();
  const { missing, altered } = media;
  if (missing.length + altered.length > 0 && !allowsDamage) {
    throw new BackupError(
      `${damageOf(media)}. \`hlust fsck\` checks the archive; with --allow-damage, the backup is made without them`,
    );
  }
  return { media, sources };
}

const namedMax = 10;

/** Describes the media that a backup does not have as it should be. */
export function damageOf({ missing, altered }: Pick<MediaFacts, "missing" | "altered">): string {
  const named = (ids: readonly string[]): string => {
    const names = ids.slice(0, namedMax).map((id) => `media/${id}`);
    return names.join(", ") + (ids.length > namedMax ? ` and ${ids.length - namedMax} more` : "");
  };
  const parts = [
    missing.length > 0 && `the media store lacks ${named(missing)}`,
    altered.length > 0 && `the bytes of ${named(altered)} are not those of their record`,
  ];
  return parts.filter((part) => part !== false).join(", and ");
}

async function writeSynced(file: string, text: string): Promise<void> {
  await using handle = await open(file, "wx", 0o600);
  await handle.writeFile(text);
  await handle.sync();
}
