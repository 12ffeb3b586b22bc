import { createReadStream, createWriteStream } from "node:fs";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { buffer } from "node:stream/consumers";
import { ListObjectsV2Command } from "@aws-sdk/client-s3";
import { failureFields, S3Bucket, type S3Settings } from "../../media/s3-bucket.ts";
import { listUnfinished, removeUnfinished } from "../../media/s3-leftovers.ts";
import { deleteObject, describeObject, listObjects, readObject } from "../../media/s3-objects.ts";
import { putObject } from "../../media/s3-put.ts";
import { waitForBucket } from "../../media/wait-for-bucket.ts";
import { createLog } from "../../std/log.ts";
import { ServiceError } from "../../std/service-error.ts";
import { BackupError, checksumsFile, manifestFile } from "../backup-format.ts";
import { isBackupName, isChecksumsEnd } from "../backup-names.ts";

/** How long the store may be unavailable at the beginning. */
const unavailableMsMax = 5_000;
/** The number of bytes at the end of the checksums that have the last line. */
const endBytes = 200;

/** How the store of backups is accessed. */
export type BucketAccess = Pick<S3Settings, "endpoint" | "region" | "key">;

/** A prefix of a bucket with backups. */
export interface BackupBucket extends AsyncDisposable {
  readonly s3: S3Bucket;
  readonly access: BucketAccess;
  /** The address: s3://<bucket>/<prefix>. */
  readonly url: string;
  /** The prefix of all keys, which is empty or ends in a slash. */
  readonly prefix: string;
}

/** Returns the bucket and the prefix of an address. Throws BackupError if it is none. */
function parseBucketUrl(url: string): { readonly bucket: string; readonly prefix: string } {
  const { bucket = "", path = "" } =
    /^s3:\/\/(?<bucket>[a-z\d][a-z\d.-]*)(?:\/(?<path>(?:[\w.-]+(?:\/[\w.-]+)*)?))?\/?$/.exec(url)
      ?.groups ?? {};
  if (bucket === "" || /(?:^|\/)\.\.?(?:\/|$)/.test(path)) {
    throw new BackupError(
      `${JSON.stringify(url)} is not the address of a bucket: it must be like s3://bucket/prefix`,
    );
  }
  return { bucket, prefix: path === "" ? "" : `${path}/` };
}

/** Opens a prefix of an existing bucket. Throws BackupError if the bucket cannot be used. */
export async function openBackupBucket(url: string, access: BucketAccess): Promise<BackupBucket> {
  const { bucket, prefix } = parseBucketUrl(url);
  const settings = { ...access, bucket, prefix, publicEndpoint: undefined, presigns: false };
  const log = createLog("silent");
  const s3 = new S3Bucket(settings, { log });
  try {
    await waitForBucket(s3, settings, { log, unavailableMsMax });
  } catch (error) {
    s3[Symbol.dispose]();
    const why = error instanceof Error ? error.message.replaceAll(/ \(S3_\w+\)/g, "") : "";
    throw new BackupError(`${url} cannot be used: ${why}`, { cause: error });
  }
  return {
    s3,
    access,
    url: `s3://${bucket}/${prefix}`,
    prefix,
    [Symbol.asyncDispose]: async () => Promise.resolve(s3[Symbol.dispose]()),
  };
}

/** Runs something, and explains to the operator that the bucket was unavailable. */
export async function withBucket<T>({ url }: BackupBucket, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code !== "unavailable") throw error;
    const { error: why } = failureFields(error.cause);
    throw new BackupError(`the request to ${url} failed: ${why}`, { cause: error });
  }
}

/** A backup in a bucket. */
export interface FoundInBucket {
  readonly name: string;
  /** false: it was interrupted, or is being made. */
  readonly isWhole: boolean;
}

/** Lists the backups below the prefix, oldest first. */
export async function findInBucket(bucket: BackupBucket): Promise<readonly FoundInBucket[]> {
  const { s3, prefix } = bucket;
  const query = { Bucket: s3.name, Prefix: prefix, Delimiter: "/" };
  const found: FoundInBucket[] = [];
  let next: string | undefined;
  do {
    const command = new ListObjectsV2Command({ ...query, ContinuationToken: next });
    const page = await s3.answer(s3.client.send(command), "list");
    for (const { Prefix = "" } of page.CommonPrefixes ?? []) {
      const name = Prefix.slice(prefix.length, -1);
      if (isBackupName(name)) found.push({ name, isWhole: await hasEnd(bucket, name) });
    }
    next = page.NextContinuationToken;
  } while (next !== undefined);
  return found.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

/** Whether the checksums of a backup, which are written last, are there to their end. */
async function hasEnd({ s3, prefix }: BackupBucket, name: string): Promise<boolean> {
  const key = `${prefix}${name}/${checksumsFile}`;
  const { sizeBytes } = (await describeObject(s3, key)) ?? { sizeBytes: 0 };
  if (sizeBytes === 0) return false;
  const range = { start: Math.max(0, sizeBytes - endBytes), end: sizeBytes - 1 };
  const { bytes } = await readObject(s3, key, range);
  return isChecksumsEnd((await buffer(bytes)).toString());
}

/**
 * Downloads the files of a backup, except its media, to an empty folder. Throws BackupError if
 * there is no such backup. Files that are missing are left out.
 */
export async function fetchBackup(
  { s3, prefix, url }: BackupBucket,
  name: string,
  folder: string,
): Promise<void> {
  let count = 0;
  for await (const { name: path } of listObjects(s3, `${prefix}${name}/`)) {
    if (!isOwnFile(path)) continue;
    const { bytes } = await readObject(s3, `${prefix}${name}/${path}`);
    await pipeline(bytes, createWriteStream(join(folder, path), { mode: 0o600 }));
    count += 1;
  }
  if (count === 0) throw new BackupError(`${url}${name} is not a backup: there is nothing`);
}

/** Downloads the manifest of a backup to an empty folder. */
export async function fetchManifest(
  { s3, prefix }: BackupBucket,
  name: string,
  folder: string,
): Promise<void> {
  const { bytes } = await readObject(s3, `${prefix}${name}/${manifestFile}`);
  await pipeline(bytes, createWriteStream(join(folder, manifestFile), { mode: 0o600 }));
}

/** Whether a path is that of a file of a backup, except media. */
function isOwnFile(path: string): boolean {
  return path === manifestFile || path === checksumsFile || /^tables\/\w+\.copy\.zst$/.test(path);
}

/** Uploads a file. The object exists whole, or not at all. */
export async function uploadFile(s3: S3Bucket, key: string, file: string): Promise<void> {
  const bytes: AsyncIterable<Uint8Array> = createReadStream(file);
  await putObject(s3, key, bytes, { bytesMax: Number.MAX_SAFE_INTEGER });
}

/** Deletes a backup, without its media. From the first step on, it is not whole. */
export async function deleteInBucket({ s3, prefix }: BackupBucket, name: string): Promise<void> {
  await deleteObject(s3, `${prefix}${name}/${checksumsFile}`);
  for await (const { name: path } of listObjects(s3, `${prefix}${name}/`)) {
    await deleteObject(s3, `${prefix}${name}/${path}`);
  }
}

/** Removes the parts of uploads that killed backups have left, if they are older than an hour. */
export async function removeLeftParts({ s3, prefix }: BackupBucket): Promise<void> {
  await removeUnfinished(listUnfinished(s3, prefix), Date.now());
}
