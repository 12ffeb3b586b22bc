import { text as textOf } from "node:stream/consumers";
import { PutObjectCommand } from "@aws-sdk/client-s3";
import { ServiceError } from "../std/service-error.ts";
import type { StoreNotes } from "./media-store.ts";
import { statusOf, type S3Bucket } from "./s3-bucket.ts";
import { readObject } from "./s3-objects.ts";

/** Notes as objects named after them, below the prefix. */
export function openS3Notes(s3: S3Bucket, prefix: string): StoreNotes {
  const put = (name: string, text: string, condition: { IfNoneMatch?: string }) =>
    s3.client.send(
      new PutObjectCommand({
        Bucket: s3.name,
        Key: prefix + name,
        Body: text,
        ContentType: "application/json",
        ...condition,
      }),
    );
  const read: StoreNotes["read"] = async (name) => {
    try {
      return await textOf((await readObject(s3, prefix + name)).bytes);
    } catch (error) {
      if (error instanceof ServiceError && error.code === "not_found") return undefined;
      throw error;
    }
  };
  return {
    read,
    async create(name, text) {
      if ((await read(name)) !== undefined) return false;
      const creating = put(name, text, { IfNoneMatch: "*" }).catch(async (error: unknown) => {
        // 412: it exists. 409: another write is in progress. 501: the store does not support
        // conditions.
        if (statusOf(error) === 412 || statusOf(error) === 409) return;
        if (statusOf(error) !== 501) throw error;
        await put(name, text, {});
      });
      await s3.answer(creating, "put");
      // Works without conditions too: a writer that does not read back its own text was not first.
      return (await read(name)) === text;
    },
    async replace(name, text) {
      await s3.answer(put(name, text, {}), "put");
    },
  };
}
