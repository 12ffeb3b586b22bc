import { buffer, text as textOf } from "node:stream/consumers";
import { PutObjectCommand } from "@aws-sdk/client-s3";
import { isId } from "../std/ids.ts";
import { ServiceError } from "../std/service-error.ts";
import { untilAborted } from "../std/until-aborted.ts";
import {
  mediaTooLarge,
  offsetMismatch,
  type PartialMedia,
  type PutOptions,
  type StoredMedia,
} from "./media-store.ts";
import { slowAnswerMsMax, type S3Bucket } from "./s3-bucket.ts";
import { deleteObject, describeObject, listObjects, readObject } from "./s3-objects.ts";
import { S3Parts, type PartsMark } from "./s3-parts.ts";
import { partBytesFor, PartBuffer, putObject } from "./s3-put.ts";
import { sniffedBytesMax, sniffMediaType } from "./sniff-media-type.ts";

/** What the bucket has of one recording. */
interface Found {
  /** The whole parts, if there are any. */
  readonly parts: S3Parts | undefined;
  /** The key and length of the object with the bytes after the whole parts. */
  readonly rest: { readonly key: string; readonly sizeBytes: number } | undefined;
  readonly committedBytes: number;
  /** Every object below the folder of the recording. */
  readonly keys: readonly string[];
}

/**
 * Stores partial media as the parts of a multipart upload of the finished object. Below
 * <prefix>partial/<id>/, `parts` names the upload and `rest-<offset>` has the bytes from an offset
 * on that do not fill a part yet. A kill of a node loses at most the part that was being filled.
 */
export function openS3Partial(
  s3: S3Bucket,
  options: {
    readonly prefix: string;
    readonly keyOf: (mediaId: string) => string;
    readonly pageKeysMax: number | undefined;
  },
): PartialMedia {
  const { prefix, keyOf, pageKeysMax } = options;
  const folder = `${prefix}partial/`;
  const folderOf = (id: string): string => {
    if (!isId(id)) throw new Error("a media id is a UUID");
    return `${folder}${id}/`;
  };
  const find = async (id: string): Promise<Found> => {
    const sizes = new Map<string, number>();
    for await (const { name, sizeBytes } of listObjects(s3, folderOf(id), pageKeysMax)) {
      sizes.set(name, sizeBytes);
    }
    const mark = sizes.has(markName) ? await readMark(s3, folderOf(id) + markName) : undefined;
    const parts = mark && (await S3Parts.find(s3, keyOf(id), mark));
    const whole = parts?.sizeBytes ?? 0;
    const key = folderOf(id) + restName(whole);
    const sizeBytes = sizes.get(restName(whole));
    return {
      parts,
      rest: sizeBytes === undefined ? undefined : { key, sizeBytes },
      committedBytes: whole + (sizeBytes ?? 0),
      keys: Array.from(sizes.keys(), (name) => folderOf(id) + name),
    };
  };
  return {
    async committedBytes(id) {
      return (await find(id)).committedBytes;
    },
    async append(id, offset, bytes, put) {
      const found = await find(id);
      if (offset !== found.committedBytes) throw offsetMismatch(offset, found.committedBytes);
      return await new Appending(s3, { found, key: keyOf(id), folder: folderOf(id) }).run(
        bytes,
        put,
      );
    },
    async finish(id) {
      const found = await find(id);
      const stored = await assemble(s3, keyOf(id), found);
      for (const key of found.keys) await deleteObject(s3, key);
      return stored;
    },
    async abort(id) {
      const { parts, keys } = await find(id);
      await parts?.abort();
      for (const key of keys) await deleteObject(s3, key);
    },
    async *list() {
      const times = new Map<string, Date>();
      for await (const { name, putAt } of listObjects(s3, folder, pageKeysMax)) {
        const id = name.slice(0, name.indexOf("/"));
        if (isId(id) && (times.get(id) ?? putAt) <= putAt) times.set(id, putAt);
      }
      for (const [id, since] of times) yield { id, since };
    },
  };
}

const markName = "parts";

function restName(offset: number): string {
  return `rest-${offset}`;
}

async function readMark(s3: S3Bucket, key: string): Promise<PartsMark> {
  const text = await textOf((await readObject(s3, key)).bytes);
  const [partBytes = "", uploadId = ""] = text.split(" ");
  return { partBytes: Number(partBytes), uploadId };
}

/** One call of append(). */
class Appending {
  readonly #s3: S3Bucket;
  readonly #key: string;
  readonly #folder: string;
  readonly #rest: Found["rest"];
  #parts: Found["parts"];
  #sending: Promise<void> = Promise.resolve();

  constructor(
    s3: S3Bucket,
    {
      found,
      key,
      folder,
    }: { readonly found: Found; readonly key: string; readonly folder: string },
  ) {
    this.#s3 = s3;
    this.#key = key;
    this.#folder = folder;
    this.#parts = found.parts;
    this.#rest = found.rest;
  }

  async run(bytes: AsyncIterable<Uint8Array>, { bytesMax, signal }: PutOptions): Promise<number> {
    const part = new PartBuffer(this.#parts?.mark.partBytes ?? partBytesFor(bytesMax));
    const rest = this.#rest && (await buffer((await readObject(this.#s3, this.#rest.key)).bytes));
    let size = this.#parts?.sizeBytes ?? 0;
    const take = async (chunk: Uint8Array): Promise<void> => {
      size += chunk.length;
      for (let at = 0; at < chunk.length;) {
        at += part.fill(chunk.subarray(at));
        if (part.isFull) await this.#begin(part.take());
      }
    };
    try {
      if (rest) await take(rest);
      for await (const chunk of signal ? untilAborted(bytes, signal) : bytes) {
        if (size + chunk.length > bytesMax) throw mediaTooLarge(bytesMax);
        await take(chunk);
      }
    } finally {
      await this.#sending;
      await this.#keepRest(part.take());
    }
    return size;
  }

  /** Begins to send a part once the previous one is stored. */
  async #begin(body: Buffer): Promise<void> {
    await this.#sending;
    this.#parts ??= await this.#beginParts(body);
    this.#sending = this.#parts.add(body);
    // The next call throws the error.
    this.#sending.catch(() => {});
  }

  async #beginParts(first: Buffer): Promise<S3Parts> {
    const contentType = sniffMediaType(first.subarray(0, sniffedBytesMax));
    const parts = await S3Parts.begin(this.#s3, this.#key, {
      contentType,
      partBytes: first.length,
    });
    await this.#put(markName, Buffer.from(`${parts.mark.partBytes} ${parts.mark.uploadId}`));
    return parts;
  }

  /** Stores the bytes that do not fill a part, and deletes the object that had them before. */
  async #keepRest(body: Buffer): Promise<void> {
    const name = restName(this.#parts?.sizeBytes ?? 0);
    if (body.length > 0) await this.#put(name, body);
    const old = this.#rest?.key;
    if (old !== undefined && old !== this.#folder + name) await deleteObject(this.#s3, old);
  }

  async #put(name: string, Body: Buffer): Promise<void> {
    const object = { Bucket: this.#s3.name, Key: this.#folder + name, Body };
    const options = { requestTimeout: slowAnswerMsMax };
    await this.#s3.answer(this.#s3.client.send(new PutObjectCommand(object), options), "put");
  }
}

/** Makes the stored bytes one object. The object may exist already, since calls are repeated. */
async function assemble(s3: S3Bucket, key: string, found: Found): Promise<StoredMedia> {
  const { parts, rest, committedBytes: bytesMax } = found;
  if (rest) {
    const { bytes } = await readObject(s3, rest.key);
    if (!parts) return await putObject(s3, key, bytes, { bytesMax });
    await parts.add(await buffer(bytes));
  }
  await parts?.complete();
  const object = await describeObject(s3, key);
  if (!object) throw new ServiceError("not_found", "no bytes were received");
  const head = await readObject(s3, key, { start: 0, end: sniffedBytesMax - 1 });
  const contentType = sniffMediaType(await buffer(head.bytes));
  return { sizeBytes: object.sizeBytes, sha256: null, contentType };
}
