import { createHash } from "node:crypto";
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  PutObjectCommand,
  UploadPartCommand,
} from "@aws-sdk/client-s3";
import { untilAborted } from "../std/until-aborted.ts";
import { mediaTooLarge, type PutOptions, type StoredMedia } from "./media-store.ts";
import { slowAnswerMsMax, type S3Bucket } from "./s3-bucket.ts";
import { sniffMediaType } from "./sniff-media-type.ts";

/**
 * The minimum size of a part. Every S3 service accepts parts of 5 MiB or more; some require parts
 * of equal size.
 */
const partBytesMin = 8 * 2 ** 20;
/** The maximum number of parts. Amazon allows 10,000; Swift allows 1,000 by default. */
const partsMax = 1_000;
/** The number of parts that are sent concurrently while another one is being filled. */
const partsAtOnce = 2;

/**
 * Writes an object of unknown length: in one request if it is short, otherwise in parts, of which
 * at most three are in memory. The object exists once the promise resolves. After a failure,
 * nothing is left.
 */
export async function putObject(
  s3: S3Bucket,
  key: string,
  bytes: AsyncIterable<Uint8Array>,
  { bytesMax, signal }: PutOptions,
): Promise<StoredMedia> {
  const failed = new AbortController();
  const until = signal ? AbortSignal.any([signal, failed.signal]) : failed.signal;
  const part = new PartBuffer(partBytesFor(bytesMax));
  const hash = createHash("sha256");
  let sizeBytes = 0;
  let upload: MultipartUpload | undefined;
  try {
    for await (const chunk of untilAborted(bytes, until)) {
      sizeBytes += chunk.length;
      if (sizeBytes > bytesMax) throw mediaTooLarge(bytesMax);
      hash.update(chunk);
      for (let at = 0; at < chunk.length;) {
        at += part.fill(chunk.subarray(at));
        if (!part.isFull) continue;
        upload ??= await MultipartUpload.begin(s3, {
          key,
          contentType: sniffMediaType(part.bytes),
          failed,
          until,
        });
        await upload.add(part.take());
      }
    }
    const contentType = upload?.contentType ?? sniffMediaType(part.bytes);
    const whole = { Bucket: s3.name, Key: key, ContentType: contentType, Body: part.take() };
    if (upload) await upload.complete(whole.Body);
    else await putWhole(s3, whole, until);
    return { sizeBytes, sha256: hash.digest(), contentType };
  } catch (error) {
    await upload?.abort();
    throw error;
  }
}

/** Returns the size of the parts of media that may have bytesMax bytes. */
export function partBytesFor(bytesMax: number): number {
  return Math.max(partBytesMin, Math.ceil(bytesMax / partsMax));
}

async function putWhole(
  s3: S3Bucket,
  object: { Bucket: string; Key: string; ContentType: string; Body: Uint8Array },
  signal: AbortSignal,
): Promise<void> {
  const options = { abortSignal: signal, requestTimeout: slowAnswerMsMax };
  const request = s3.client.send(new PutObjectCommand(object), options);
  try {
    await s3.answer(request, "put", signal);
    signal.throwIfAborted();
  } catch (error) {
    await removeUncertain(s3, object.Key);
    throw error;
  }
}

/**
 * Removes an object that may exist although its confirmation was lost. If the removal fails, the
 * object is media without a record, which is set aside later.
 */
async function removeUncertain(s3: S3Bucket, Key: string): Promise<void> {
  const request = s3.client.send(new DeleteObjectCommand({ Bucket: s3.name, Key }));
  await s3.find(request, "remove").catch(() => {});
}

/**
 * Gathers the bytes of a part. The buffer for the first part grows as it is filled, so that short
 * media uses little memory.
 */
export class PartBuffer {
  readonly #bytesMax: number;
  #buffer = Buffer.alloc(0);
  #length = 0;
  #isFirst = true;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get bytes(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }

  get isFull(): boolean {
    return this.#length === this.#bytesMax;
  }

  /** Copies as many bytes as fit, and returns the number of copied bytes. */
  fill(chunk: Uint8Array): number {
    const count = Math.min(chunk.length, this.#bytesMax - this.#length);
    const needed = this.#length + count;
    if (needed > this.#buffer.length) {
      const size = this.#isFirst ? Math.min(this.#bytesMax, needed * 2) : this.#bytesMax;
      const larger = Buffer.allocUnsafeSlow(size);
      larger.set(this.bytes);
      this.#buffer = larger;
    }
    this.#buffer.set(chunk.subarray(0, count), this.#length);
    this.#length = needed;
    return count;
  }

  /** Returns the bytes, and begins an empty part. */
  take(): Buffer {
    const { bytes } = this;
    this.#buffer = Buffer.alloc(0);
    this.#length = 0;
    this.#isFirst = false;
    return bytes;
  }
}

interface UploadOptions {
  readonly key: string;
  readonly contentType: string;
  /** The controller that is aborted, with the reason, as soon as a part fails. */
  readonly failed: AbortController;
  /** The signal that ends the requests; it follows `failed`. */
  readonly until: AbortSignal;
}

class MultipartUpload {
  readonly #s3: S3Bucket;
  readonly #options: UploadOptions;
  readonly #target: { readonly Bucket: string; readonly Key: string; readonly UploadId: string };
  readonly #parts: { PartNumber: number; ETag: string | undefined }[] = [];
  readonly #running = new Set<Promise<void>>();

  private constructor(s3: S3Bucket, options: UploadOptions, UploadId: string) {
    this.#s3 = s3;
    this.#options = options;
    this.#target = { Bucket: s3.name, Key: options.key, UploadId };
  }

  static async begin(s3: S3Bucket, options: UploadOptions): Promise<MultipartUpload> {
    const { key, contentType } = options;
    const object = { Bucket: s3.name, Key: key, ContentType: contentType };
    const request = s3.client.send(new CreateMultipartUploadCommand(object));
    const { UploadId } = await s3.answer(request, "put");
    if (UploadId === undefined) throw new Error("S3 began an upload without an id");
    return new MultipartUpload(s3, options, UploadId);
  }

  get contentType(): string {
    return this.#options.contentType;
  }

  /** Starts sending a part when there is room for one. */
  async add(body: Uint8Array): Promise<void> {
    while (this.#running.size >= partsAtOnce) await Promise.race(this.#running);
    this.#options.until.throwIfAborted();
    const part = { PartNumber: this.#parts.length + 1, ETag: undefined };
    this.#parts.push(part);
    const sending = this.#send(part, body)
      .catch((error: unknown) => {
        this.#options.failed.abort(error);
      })
      .finally(() => this.#running.delete(sending));
    this.#running.add(sending);
  }

  async complete(last: Uint8Array): Promise<void> {
    if (last.length > 0) await this.add(last);
    await Promise.all(this.#running);
    this.#options.until.throwIfAborted();
    const command = new CompleteMultipartUploadCommand({
      ...this.#target,
      MultipartUpload: { Parts: this.#parts },
    });
    // The request is not aborted, because it would then be unknown whether it had succeeded.
    const options = { requestTimeout: slowAnswerMsMax };
    try {
      await this.#s3.answer(this.#s3.client.send(command, options), "put");
      this.#options.until.throwIfAborted();
    } catch (error) {
      await removeUncertain(this.#s3, this.#target.Key);
      throw error;
    }
  }

  /**
   * Removes the parts. A part that arrived later would remain, so parts that are being sent are
   * awaited first.
   */
  async abort(): Promise<void> {
    this.#options.failed.abort(new Error("the upload is aborted"));
    await Promise.all(this.#running);
    const request = this.#s3.client.send(new AbortMultipartUploadCommand(this.#target));
    await this.#s3.find(request, "remove").catch(() => {});
  }

  async #send(
    part: { readonly PartNumber: number; ETag: string | undefined },
    body: Uint8Array,
  ): Promise<void> {
    const command = new UploadPartCommand({
      ...this.#target,
      PartNumber: part.PartNumber,
      Body: body,
    });
    const options = { abortSignal: this.#options.until, requestTimeout: slowAnswerMsMax };
    const request = this.#s3.client.send(command, options);
    part.ETag = (await this.#s3.answer(request, "put", this.#options.until)).ETag;
  }
}
