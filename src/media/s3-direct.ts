import { buffer } from "node:stream/consumers";
import { CopyObjectCommand, GetObjectCommand, PutObjectCommand } from "@aws-sdk/client-s3";
import { getSignedUrl } from "@aws-sdk/s3-request-presigner";
import { isId } from "../std/ids.ts";
import { ServiceError } from "../std/service-error.ts";
import { mediaTooLarge, type DirectTransfers, type MediaStore } from "./media-store.ts";
import { createClient, slowAnswerMsMax, type S3Bucket, type S3Settings } from "./s3-bucket.ts";
import {
  copyBytesMax,
  deleteObject,
  describeObject,
  listObjects,
  readObject,
} from "./s3-objects.ts";
import type { S3Removed } from "./s3-removed.ts";
import { signedUrlMs } from "./signed-url.ts";
import { sniffedBytesMax, sniffMediaType } from "./sniff-media-type.ts";

/**
 * Creates presigned URLs for a bucket. A PUT writes to incoming/<upload id>, which only the service
 * reads. Adopted media is a copy that no URL can overwrite.
 */
export function openDirectTransfers(
  s3: S3Bucket,
  parts: {
    readonly store: Pick<MediaStore, "put">;
    readonly settings: S3Settings;
    readonly keyOf: (mediaId: string) => string;
    readonly pageKeysMax?: number | undefined;
    readonly removed: S3Removed;
  },
): DirectTransfers & Disposable {
  const { store, settings, keyOf, pageKeysMax, removed } = parts;
  const folder = `${settings.prefix}incoming/`;
  const incomingKey = (uploadId: string): string => {
    if (!isId(uploadId)) throw new Error("an upload id is a UUID");
    return folder + uploadId;
  };
  /** This client only signs requests; it sends nothing. */
  const signer = createClient(settings, settings.publicEndpoint ?? settings.endpoint);
  const options = { expiresIn: signedUrlMs / 1000 };
  const { name: Bucket } = s3;
  return {
    async uploadUrl(uploadId) {
      const command = new PutObjectCommand({ Bucket, Key: incomingKey(uploadId) });
      return await s3.answer(getSignedUrl(signer, command, options), "sign");
    },
    async downloadUrl(id, { contentType, disposition }) {
      const command = new GetObjectCommand({
        Bucket,
        Key: keyOf(id),
        ResponseContentType: contentType,
        ResponseContentDisposition: disposition,
      });
      return await s3.answer(getSignedUrl(signer, command, options), "sign");
    },
    async received(uploadId) {
      const found = await describeObject(s3, incomingKey(uploadId));
      return found && { uploadId, ...found };
    },
    async *listReceived() {
      for await (const { name, ...facts } of listObjects(s3, folder, pageKeysMax)) {
        if (isId(name)) yield { uploadId: name, ...facts };
      }
    },
    async adopt(uploadId, id, { bytesMax }) {
      const key = incomingKey(uploadId);
      const found = await describeObject(s3, key);
      if (!found) throw new ServiceError("not_found", "no media was received");
      if (found.sizeBytes > bytesMax) throw mediaTooLarge(bytesMax);
      if (found.sizeBytes === 0 || found.sizeBytes > copyBytesMax) {
        return await store.put(id, (await readObject(s3, key)).bytes, { bytesMax });
      }
      return await copy(s3, { key, copyKey: keyOf(id), bytesMax });
    },
    async discard(uploadId) {
      await deleteObject(s3, incomingKey(uploadId));
    },
    async setAside(uploadId) {
      await removed.take(incomingKey(uploadId), uploadId);
    },
    [Symbol.dispose]() {
      signer.destroy();
    },
  };
}

/**
 * Copies an object of at least one byte within the store. The returned facts describe the copy,
 * even if the source is overwritten concurrently.
 */
async function copy(
  s3: S3Bucket,
  { key, copyKey, bytesMax }: { key: string; copyKey: string; bytesMax: number },
) {
  const command = new CopyObjectCommand({
    Bucket: s3.name,
    Key: copyKey,
    CopySource: `${s3.name}/${key}`,
    // Drops the metadata that the client sent.
    MetadataDirective: "REPLACE",
    ContentType: "application/octet-stream",
  });
  await s3.answer(s3.client.send(command, { requestTimeout: slowAnswerMsMax }), "copy");
  try {
    const head = { start: 0, end: sniffedBytesMax - 1 };
    const { bytes, sizeBytes } = await readObject(s3, copyKey, head);
    const contentType = sniffMediaType(await buffer(bytes));
    if (sizeBytes > bytesMax) throw mediaTooLarge(bytesMax);
    return { sizeBytes, contentType, sha256: null };
  } catch (error) {
    await deleteObject(s3, copyKey).catch(() => {});
    throw error;
  }
}
