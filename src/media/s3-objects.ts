import { Readable } from "node:stream";
import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
} from "@aws-sdk/client-s3";
import { ServiceError } from "../std/service-error.ts";
import type { ByteRange } from "./media-store.ts";
import type { S3Bucket } from "./s3-bucket.ts";

/**
 * The maximum number of bytes that Amazon copies in one call. Amazon does not accept a larger PUT.
 * Other stores do, in which case the object is copied by reading and writing it.
 */
export const copyBytesMax = 5 * 2 ** 30;

/** Reads the bytes of an object and its total size. Throws not_found. */
export async function readObject(
  s3: S3Bucket,
  key: string,
  range?: ByteRange,
): Promise<{ readonly bytes: Readable; readonly sizeBytes: number }> {
  const command = new GetObjectCommand({
    Bucket: s3.name,
    Key: key,
    ...(range && { Range: `bytes=${range.start}-${range.end}` }),
  });
  const found = await s3.find(s3.client.send(command), "get");
  if (!found) throw new ServiceError("not_found", "the media is gone");
  const { Body: bytes, ContentRange: part = "", ContentLength: length = 0 } = found;
  if (!(bytes instanceof Readable)) throw new Error("S3 sent no body");
  const [, size = length] = /\/(\d+)$/.exec(part) ?? [];
  return { bytes, sizeBytes: Number(size) };
}

/** Returns the facts about an object, or undefined if it does not exist. */
export async function describeObject(
  s3: S3Bucket,
  key: string,
): Promise<{ readonly sizeBytes: number; readonly putAt: Date } | undefined> {
  const request = s3.client.send(new HeadObjectCommand({ Bucket: s3.name, Key: key }));
  const found = await s3.find(request, "head");
  return found && factsOf({ Size: found.ContentLength, LastModified: found.LastModified });
}

/** Deletes an object. Does nothing if it does not exist. */
export async function deleteObject(s3: S3Bucket, key: string): Promise<void> {
  const request = s3.client.send(new DeleteObjectCommand({ Bucket: s3.name, Key: key }));
  await s3.find(request, "delete");
}

/**
 * Lists every object below a folder. The folder's name ends in a slash. `pageKeysMax`: the number
 * of keys per response, by default as many as S3 returns.
 */
export async function* listObjects(
  s3: S3Bucket,
  folder: string,
  pageKeysMax?: number,
): AsyncGenerator<{ readonly name: string; readonly sizeBytes: number; readonly putAt: Date }> {
  const query = { Bucket: s3.name, Prefix: folder, MaxKeys: pageKeysMax };
  let next: string | undefined;
  do {
    const command = new ListObjectsV2Command({ ...query, ContinuationToken: next });
    const page = await s3.answer(s3.client.send(command), "list");
    for (const { Key = "", ...facts } of page.Contents ?? []) {
      yield { name: Key.slice(folder.length), ...factsOf(facts) };
    }
    next = page.NextContinuationToken;
  } while (next !== undefined);
}

function factsOf(facts: { Size?: number | undefined; LastModified?: Date | undefined }) {
  const { Size: sizeBytes, LastModified: putAt } = facts;
  if (sizeBytes === undefined || !putAt)
    throw new Error("S3 returned incomplete facts of an object");
  return { sizeBytes, putAt };
}
