import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { S3Settings } from "../../media/s3-bucket.ts";
import { BackupError, readManifest, type Manifest } from "../backup-format.ts";
import type { BackupMedia } from "../backup-media.ts";
import { isBackupName } from "../backup-names.ts";
import {
  fetchBackup,
  fetchManifest,
  findInBucket,
  openBackupBucket,
  withBucket,
  type BucketAccess,
} from "./backup-bucket.ts";
import { mediaInBucket } from "./bucket-media.ts";
import { openScratch } from "./make-bucket-backup.ts";

/** Lists the backups of a bucket, oldest first, with the manifests of the whole ones. */
export async function listBucket(
  url: string,
  access: BucketAccess,
): Promise<
  readonly {
    readonly name: string;
    readonly isWhole: boolean;
    readonly manifest: Manifest | undefined;
  }[]
> {
  await using bucket = await openBackupBucket(url, access);
  await using scratch = await openScratch();
  return await withBucket(bucket, async () => {
    const found = await findInBucket(bucket);
    return await Promise.all(
      found.map(async ({ name, isWhole }) => {
        if (!isWhole) return { name, isWhole, manifest: undefined };
        const folder = join(scratch.folder, name);
        await mkdir(folder, { mode: 0o700 });
        await fetchManifest(bucket, name, folder);
        return { name, isWhole, manifest: await readManifest(folder) };
      }),
    );
  });
}

/**
 * Runs something with a backup of a bucket: its files in a folder, without its media, and where the
 * media is. Errors name the address instead of the folder.
 */
export async function withFetched<T>(
  url: string,
  { access, own }: { readonly access: BucketAccess; readonly own: S3Settings | undefined },
  run: (backup: { readonly folder: string; readonly media: BackupMedia }) => Promise<T>,
): Promise<T> {
  const [, target = "", name = ""] = /^(s3:\/\/.*)\/([^/]+)\/?$/.exec(url) ?? [];
  if (!isBackupName(name)) {
    throw new BackupError(
      `${JSON.stringify(url)} is not the address of a backup: it must be like s3://bucket/prefix/2026-11-28T02-00-00.123Z`,
    );
  }
  await using bucket = await openBackupBucket(target, access);
  await using scratch = await openScratch();
  const folder = join(scratch.folder, name);
  await mkdir(join(folder, "tables"), { recursive: true, mode: 0o700 });
  try {
    return await withBucket(bucket, async () => {
      await fetchBackup(bucket, name, folder);
      return await run({ folder, media: mediaInBucket(bucket, own) });
    });
  } catch (error) {
    if (!(error instanceof BackupError)) throw error;
    throw new BackupError(error.message.replaceAll(folder, bucket.url + name), { cause: error });
  }
}
