import { createHash } from "node:crypto";
import { CopyObjectCommand } from "@aws-sdk/client-s3";
import type { MediaStore } from "../../media/media-store.ts";
import { slowAnswerMsMax, statusOf, type S3Settings } from "../../media/s3-bucket.ts";
import { copyBytesMax, describeObject, readObject } from "../../media/s3-objects.ts";
import { putObject } from "../../media/s3-put.ts";
import type { BackupMedia } from "../backup-media.ts";
import { mediaPath } from "../backup-format.ts";
import { chunksOf, copyEach, type CopyMedia, type Placed } from "../copy-media.ts";
import type { RecordedMedia } from "../read-rows.ts";
import type { BackupBucket } from "./backup-bucket.ts";

/**
 * Returns the media of the backups in a bucket: <prefix>media/, which all backups share, since
 * media never changes. `own`: the bucket of the archive's media; undefined if it is on disk.
 */
export function mediaInBucket(bucket: BackupBucket, own: S3Settings | undefined): BackupMedia {
  const { s3, prefix } = bucket;
  const hash: BackupMedia["hash"] = async (path, onBytes) => {
    const sum = createHash("sha256");
    let bytes = 0;
    const { bytes: chunks } = await readObject(s3, prefix + path);
    for await (const chunk of chunks) {
      sum.update(chunk);
      bytes += chunk.length;
      onBytes(chunk.length);
    }
    return { bytes, sha256: sum.digest("hex") };
  };
  return {
    async sizeBytes(path) {
      return (await describeObject(s3, prefix + path))?.sizeBytes;
    },
    hash,
    async restore(store, id, path) {
      const sizeBytes = (await describeObject(s3, prefix + path))?.sizeBytes ?? 0;
      const to = own && { bucket: own.bucket, key: `${own.prefix}media/${id}` };
      const from = { bucket: s3.name, key: prefix + path };
      const copy = { from, sizeBytes, sizeOfCopy: () => store.sizeBytes(id) };
      if (to && isSameService(bucket, own) && (await isCopied(bucket, { ...copy, to }))) return;
      const { bytes } = await readObject(s3, prefix + path);
      await store.put(id, bytes, { bytesMax: Math.max(1, sizeBytes) });
    },
  };
}

/**
 * Returns a function that copies media into a bucket: within the service of the store where that is
 * possible, otherwise through this process. `verified`: the SHA-256 of media that the backup before
 * has, by its path, which is not read again.
 */
export function intoBucket(
  bucket: BackupBucket,
  own: S3Settings | undefined,
  verified: ReadonlyMap<string, string>,
): CopyMedia {
  const media = mediaInBucket(bucket, own);
  return async (parts) => {
    const sources = { reused: 0, linked: 0, copied: 0 };
    const facts = await copyEach(parts, async (recorded) => {
      const path = mediaPath(recorded.id);
      const size = await media.sizeBytes(path);
      if (size === recorded.sizeBytes) {
        const sha256 = verified.get(path);
        const found =
          sha256 === undefined ? await media.hash(path, () => {}) : { bytes: size, sha256 };
        if (found.sha256 === (recorded.sha256 ?? found.sha256)) {
          sources.reused += 1;
          return found;
        }
      }
      const copied = await copyOne({ bucket, own, store: parts.store, media }, recorded);
      if (copied) sources.copied += 1;
      return copied;
    });
    return { ...facts, sources };
  };
}

async function copyOne(
  parts: {
    readonly bucket: BackupBucket;
    readonly own: S3Settings | undefined;
    readonly store: MediaStore;
    readonly media: BackupMedia;
  },
  { id }: RecordedMedia,
): Promise<Placed | undefined> {
  const { bucket, own, store, media } = parts;
  const path = mediaPath(id);
  const key = bucket.prefix + path;
  const size = await store.sizeBytes(id);
  if (size === undefined) return undefined;
  if (own && isSameService(bucket, own)) {
    const from = { bucket: own.bucket, key: `${own.prefix}media/${id}` };
    const to = { bucket: bucket.s3.name, key };
    // The bytes that are read are those of the copy.
    const sizeOfCopy = () => media.sizeBytes(path);
    if (await isCopied(bucket, { from, to, sizeBytes: size, sizeOfCopy })) {
      return await media.hash(path, () => {});
    }
  }
  const bytes = size === 0 ? none() : await chunksOf(store, id, size);
  const { sizeBytes, sha256 } = await putObject(bucket.s3, key, bytes, {
    bytesMax: Math.max(1, size),
  });
  return { bytes: sizeBytes, sha256: sha256?.toString("hex") ?? "" };
}

async function* none(): AsyncGenerator<Uint8Array> {}

function isSameService({ access }: BackupBucket, own: S3Settings): boolean {
  return (
    access.endpoint === own.endpoint &&
    access.region === own.region &&
    access.key?.id === own.key?.id
  );
}

interface ObjectCopy {
  readonly from: { readonly bucket: string; readonly key: string };
  readonly to: { readonly bucket: string; readonly key: string };
  readonly sizeBytes: number;
  readonly sizeOfCopy: () => Promise<number | undefined>;
}

/**
 * Copies an object within the service. Returns false if it is too large for one copy, if the
 * service refuses it, or if the copy has another size: Swift copies the list of the parts of an
 * object that was uploaded in parts.
 */
async function isCopied(
  { s3 }: BackupBucket,
  { from, to, sizeBytes, sizeOfCopy }: ObjectCopy,
): Promise<boolean> {
  if (sizeBytes === 0 || sizeBytes > copyBytesMax) return false;
  const command = new CopyObjectCommand({
    Bucket: to.bucket,
    Key: to.key,
    CopySource: `${from.bucket}/${from.key}`,
  });
  const request = s3.client.send(command, { requestTimeout: slowAnswerMsMax });
  const copied = request.then(
    () => true,
    (error: unknown) => {
      const status = statusOf(error);
      if (status !== undefined && status >= 400 && status < 500) return false;
      throw error;
    },
  );
  return (await s3.answer(copied, "copy")) && (await sizeOfCopy()) === sizeBytes;
}
