import { CopyObjectCommand } from "@aws-sdk/client-s3";
import { isId } from "../std/ids.ts";
import type { RemovedMedia } from "./media-store.ts";
import { slowAnswerMsMax, type S3Bucket } from "./s3-bucket.ts";
import {
  copyBytesMax,
  deleteObject,
  describeObject,
  listObjects,
  readObject,
} from "./s3-objects.ts";
import { putObject } from "./s3-put.ts";

export interface S3Removed extends RemovedMedia {
  /**
   * Moves the object with this key to the removed media under an id. Does nothing if the object
   * does not exist.
   */
  take(key: string, id: string): Promise<void>;
}

/**
 * Stores removed media below <prefix>removed/. S3 cannot move objects, so they are copied and then
 * deleted.
 */
export function openS3Removed(
  s3: S3Bucket,
  parts: {
    readonly prefix: string;
    readonly keyOf: (mediaId: string) => string;
    readonly pageKeysMax: number | undefined;
  },
): S3Removed {
  const { prefix, keyOf, pageKeysMax } = parts;
  const folder = `${prefix}removed/`;
  const asideOf = (id: string): string => {
    if (!isId(id)) throw new Error("a media id is a UUID");
    return folder + id;
  };
  const take = async (key: string, id: string): Promise<void> => {
    await move(s3, key, asideOf(id));
  };
  return {
    take,
    async add(id) {
      await take(keyOf(id), id);
    },
    async putBack(id) {
      const aside = asideOf(id);
      const media = await describeObject(s3, keyOf(id));
      if (!media) return await move(s3, aside, keyOf(id));
      const removed = await describeObject(s3, aside);
      // A kill during a move leaves both objects behind.
      if (removed?.sizeBytes === media.sizeBytes) await deleteObject(s3, aside);
      return false;
    },
    async *list() {
      for await (const { name, putAt } of listObjects(s3, folder, pageKeysMax)) {
        if (isId(name)) yield { id: name, removedAt: putAt };
      }
    },
    async delete(id) {
      await deleteObject(s3, asideOf(id));
    },
  };
}

/**
 * Moves an object. Returns false if there is no such object. A kill between the copy and the
 * deletion leaves both objects behind; the next move deletes the original.
 */
async function move(s3: S3Bucket, from: string, to: string): Promise<boolean> {
  const found = await describeObject(s3, from);
  if (!found) return false;
  const copyBytes = async (): Promise<void> => {
    const { bytes } = await readObject(s3, from);
    await putObject(s3, to, bytes, { bytesMax: Math.max(1, found.sizeBytes) });
  };
  if (found.sizeBytes > copyBytesMax) await copyBytes();
  else {
    const command = new CopyObjectCommand({
      Bucket: s3.name,
      Key: to,
      CopySource: `${s3.name}/${from}`,
    });
    const copying = s3.client.send(command, { requestTimeout: slowAnswerMsMax });
    // Another node moved the object first.
    if (!(await s3.find(copying, "copy"))) return false;
    // Swift copies the list of the parts of an object that was uploaded in parts.
    if ((await describeObject(s3, to))?.sizeBytes !== found.sizeBytes) await copyBytes();
  }
  await deleteObject(s3, from);
  return true;
}
