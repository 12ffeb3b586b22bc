import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  ListPartsCommand,
  UploadPartCommand,
  type Part,
} from "@aws-sdk/client-s3";
import { slowAnswerMsMax, type S3Bucket } from "./s3-bucket.ts";

/** What is needed to continue a multipart upload. */
export interface PartsMark {
  readonly uploadId: string;
  /** The size of every part except the last one. */
  readonly partBytes: number;
}

/** A multipart upload that may be continued by another process. */
export class S3Parts {
  readonly mark: PartsMark;
  readonly #s3: S3Bucket;
  readonly #target: { readonly Bucket: string; readonly Key: string; readonly UploadId: string };
  /** The parts that are stored, in order. */
  readonly #parts: { PartNumber: number; ETag: string | undefined }[] = [];

  private constructor(s3: S3Bucket, key: string, mark: PartsMark) {
    this.#s3 = s3;
    this.mark = mark;
    this.#target = { Bucket: s3.name, Key: key, UploadId: mark.uploadId };
  }

  static async begin(
    s3: S3Bucket,
    key: string,
    { contentType, partBytes }: { readonly contentType: string; readonly partBytes: number },
  ): Promise<S3Parts> {
    const object = { Bucket: s3.name, Key: key, ContentType: contentType };
    const request = s3.client.send(new CreateMultipartUploadCommand(object));
    const { UploadId: uploadId } = await s3.answer(request, "put");
    if (uploadId === undefined) throw new Error("S3 began an upload without an id");
    return new S3Parts(s3, key, { uploadId, partBytes });
  }

  /** Finds the upload with its whole parts. Returns undefined if it was completed or aborted. */
  static async find(s3: S3Bucket, key: string, mark: PartsMark): Promise<S3Parts | undefined> {
    const found = new S3Parts(s3, key, mark);
    let next: string | undefined;
    do {
      const command = new ListPartsCommand({ ...found.#target, PartNumberMarker: next });
      const page = await s3.find(s3.client.send(command), "list");
      if (!page) return undefined;
      for (const part of page.Parts ?? []) found.#take(part);
      next = page.IsTruncated === true ? page.NextPartNumberMarker : undefined;
    } while (next !== undefined);
    return found;
  }

  /** The number of bytes in all whole parts. */
  get sizeBytes(): number {
    return this.#parts.length * this.mark.partBytes;
  }

  /** Stores the next part. A part that is stored twice replaces itself. */
  async add(body: Uint8Array): Promise<void> {
    const PartNumber = this.#parts.length + 1;
    const command = new UploadPartCommand({ ...this.#target, PartNumber, Body: body });
    const options = { requestTimeout: slowAnswerMsMax };
    const { ETag } = await this.#s3.answer(this.#s3.client.send(command, options), "put");
    this.#parts.push({ PartNumber, ETag });
  }

  /** Makes the parts an object. Does nothing if that was done already. */
  async complete(): Promise<void> {
    const MultipartUpload = { Parts: this.#parts };
    const command = new CompleteMultipartUploadCommand({ ...this.#target, MultipartUpload });
    const options = { requestTimeout: slowAnswerMsMax };
    await this.#s3.find(this.#s3.client.send(command, options), "put");
  }

  async abort(): Promise<void> {
    const request = this.#s3.client.send(new AbortMultipartUploadCommand(this.#target));
    await this.#s3.find(request, "remove");
  }

  /** Takes a part of the list if it is whole and no part before it lacks. */
  #take({ PartNumber, ETag, Size }: Part): void {
    const isNext = PartNumber === this.#parts.length + 1;
    if (isNext && Size === this.mark.partBytes) this.#parts.push({ PartNumber, ETag });
  }
}
