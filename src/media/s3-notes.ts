import { text as textOf } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { PutObjectCommand } from "@aws-sdk/client-s3";
import { ServiceError } from "../std/service-error.ts";
import type { StoreNotes } from "./media-store.ts";
import { statusOf, type S3Bucket } from "./s3-bucket.ts";
import { readObject } from "./s3-objects.ts";

/**
 * No response from a store proves that it creates an object only once. Swift's s3api returns 501
 * for a conditional PUT, and without a condition the last PUT wins. Ceph's gateway has ignored the
 * condition. Swift itself checks the condition before it writes, so two writers can pass.
 *
 * Therefore, a creator needs to find its own text again `settleMs` after its PUT. The creator must
 * also have taken at most `createMsMax` from finding no note to the response to its PUT. Of two
 * creators, the one that writes last either replaces the other's text before the other reads it
 * again, or has taken too long. A note is created once in the life of an archive, so the wait costs
 * little.
 */
const createMsMax = 3_000;
/** Longer than `createMsMax`, even if the clocks differ slightly. */
const settleMs = createMsMax + 100;

/** Stores notes as objects of the same names under the prefix. */
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
      const begunAt = performance.now();
      if ((await read(name)) !== undefined) return false;
      const creating = put(name, text, { IfNoneMatch: "*" }).catch(async (error: unknown) => {
        // 412: the note exists. 409: another write is in progress. 501: the store does not support
        // conditions.
        if (statusOf(error) === 412 || statusOf(error) === 409) return;
        if (statusOf(error) !== 501) throw error;
        await put(name, text, {});
      });
      await s3.answer(creating, "put");
      if (performance.now() - begunAt > createMsMax) return false;
      if ((await read(name)) !== text) return false;
      await sleep(settleMs);
      return (await read(name)) === text;
    },
    async replace(name, text) {
      await s3.answer(put(name, text, {}), "put");
    },
  };
}
