import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type pg from "pg";
import type { S3Settings } from "../../media/s3-bucket.ts";
import { deleteObject, listObjects } from "../../media/s3-objects.ts";
import {
  BackupError,
  checksumsFile,
  manifestFile,
  readManifest,
  tablePath,
} from "../backup-format.ts";
import { backupName } from "../backup-names.ts";
import {
  verifiedMedia,
  writeBackup,
  type BackupOptions,
  type BackupParts,
  type MadeBackup,
} from "../make-backup.ts";
import { readChecksums } from "../checksums.ts";
import {
  deleteInBucket,
  fetchBackup,
  findInBucket,
  openBackupBucket,
  removeLeftParts,
  uploadFile,
  withBucket,
  type BackupBucket,
  type BucketAccess,
} from "./backup-bucket.ts";
import { intoBucket, mediaInBucket } from "./bucket-media.ts";

export interface BucketBackupOptions extends Omit<BackupOptions, "since"> {
  readonly access: BucketAccess;
  /** The bucket of the archive's media; undefined if it is on disk. */
  readonly own: S3Settings | undefined;
}

/**
 * Makes a backup in a bucket while the service runs: <prefix><name>/ has its rows, manifest and
 * checksums, and <prefix>media/ the media, which all backups there share. The checksums are written
 * last: a backup without them is not whole. Returns the address of the backup as its folder.
 */
export async function makeBucketBackup(
  parts: BackupParts,
  options: BucketBackupOptions,
): Promise<MadeBackup> {
  const { target, access, now = Date.now } = options;
  await using bucket = await openBackupBucket(target, access);
  return await withBucket(bucket, async () => {
    await using lock = await lockTarget(parts, bucket);
    await using scratch = await openScratch();
    const found = await findInBucket(bucket);
    const last = found.findLast(({ isWhole }) => isWhole);
    const earlier = last && (await fetchInto(bucket, last.name, join(scratch.folder, "earlier")));
    const name = backupName(new Date(now()));
    const place = { bucket, name, folder: scratch.folder, earlier, options };
    const made = await write(parts, { ...place, check: () => lock.check() });
    for (const { name: left, isWhole } of found) if (!isWhole) await deleteInBucket(bucket, left);
    await removeLeftParts(bucket);
    lock.check();
    const deleted = await deleteOld(bucket, options.keep, scratch.folder);
    return { ...made, folder: bucket.url + name, deleted };
  });
}

async function write(
  parts: BackupParts,
  place: {
    readonly bucket: BackupBucket;
    readonly name: string;
    readonly folder: string;
    /** The folder with the files of the backup before. */
    readonly earlier: string | undefined;
    readonly options: BucketBackupOptions;
    /** Throws if another process could have begun a backup there. */
    readonly check: () => void;
  },
): Promise<Pick<MadeBackup, "manifest" | "sources">> {
  const { bucket, name, earlier, options } = place;
  const folder = join(place.folder, "new");
  await mkdir(join(folder, "tables"), { recursive: true, mode: 0o700 });
  const verified = earlier === undefined ? new Map() : await verifiedMedia(earlier);
  const media = mediaInBucket(bucket, options.own);
  const copyMedia = intoBucket(bucket, options.own, verified);
  const made = await writeBackup(parts, folder, { ...options, copyMedia, media });
  const before = earlier === undefined ? undefined : (await readManifest(earlier)).archive?.id;
  const id = made.manifest.archive?.id;
  if (before !== undefined && id !== undefined && before !== id) {
    throw new BackupError(
      `${bucket.url} has backups of another archive, ${before}: use a prefix for each archive`,
    );
  }
  place.check();
  const paths = made.manifest.tables.map((table) => tablePath(table.name));
  // The checksums come last: without them, the backup is not whole.
  for (const path of [...paths, manifestFile, checksumsFile]) {
    await uploadFile(bucket.s3, `${bucket.prefix}${name}/${path}`, join(folder, path));
  }
  return made;
}

async function fetchInto(bucket: BackupBucket, name: string, folder: string): Promise<string> {
  await mkdir(join(folder, "tables"), { recursive: true, mode: 0o700 });
  await fetchBackup(bucket, name, folder);
  return folder;
}

/** Deletes whole backups but the newest `keep`, and media that no backup lists any more. */
async function deleteOld(
  bucket: BackupBucket,
  keep: number | undefined,
  scratch: string,
): Promise<readonly string[]> {
  if (keep === undefined) return [];
  const found = await findInBucket(bucket);
  const whole = found.filter(({ isWhole }) => isWhole);
  const old = whole.slice(0, Math.max(0, whole.length - keep));
  for (const { name } of old) await deleteInBucket(bucket, name);
  if (old.length === 0) return [];
  const listed = new Set<string>();
  for (const { name } of whole.slice(old.length)) {
    const folder = await fetchInto(bucket, name, join(scratch, `kept-${name}`));
    for await (const { path } of readChecksums(folder)) listed.add(path);
    await rm(folder, { recursive: true });
  }
  const { s3, prefix } = bucket;
  for await (const { name } of listObjects(s3, `${prefix}media/`)) {
    if (!listed.has(`media/${name}`)) await deleteObject(s3, `${prefix}media/${name}`);
  }
  return old.map(({ name }) => name);
}

interface TargetLock extends AsyncDisposable {
  /** Throws BackupError if the lock was lost. */
  check(): void;
}

/**
 * Lets only one process make backups of this archive in a target: by a lock in the database, which
 * ends with its connection, also behind a pooler.
 */
async function lockTarget({ connect }: BackupParts, { url }: BackupBucket): Promise<TargetLock> {
  const client: pg.Client = await connect("hlust backup lock");
  let lost: unknown;
  client.on("error", (error) => {
    lost = error;
  });
  try {
    await client.query("begin");
    await client.query("set local idle_in_transaction_session_timeout = 0");
    const { rows } = await client.query<{ locked: boolean }>(
      "select pg_try_advisory_xact_lock(hashtextextended($1, 0)) as locked",
      [`hlust backup ${url}`],
    );
    if (rows[0]?.locked !== true) {
      throw new BackupError(`another backup is being made in ${url}`);
    }
  } catch (error) {
    await client.end();
    throw error;
  }
  return {
    check() {
      if (lost !== undefined) throw new BackupError("the connection to the database was lost");
    },
    [Symbol.asyncDispose]: async () => await client.end(),
  };
}

/** Opens a folder for the files of backups; disposing of it deletes the folder. */
export async function openScratch(): Promise<AsyncDisposable & { readonly folder: string }> {
  const folder = await mkdtemp(join(tmpdir(), "hlust-backup-"));
  return {
    folder,
    [Symbol.asyncDispose]: async () => await rm(folder, { recursive: true, force: true }),
  };
}
