import type { Readable } from "node:stream";
import { ServiceError } from "../std/service-error.ts";

/** What the store learnt of a recording while taking it. */
export interface StoredMedia {
  readonly sizeBytes: number;
  readonly sha256: Buffer;
  /** audio/... or video/..., from the first bytes; application/octet-stream for anything else. */
  readonly contentType: string;
}

/** Both ends included, counted from 0, within the media. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

export interface PutOptions {
  /** Past it the put fails with status 413. */
  readonly bytesMax: number;
  readonly signal?: AbortSignal;
}

/**
 * Keeps the bytes of recordings by id (a UUID). What the database knows of them is not its matter. Every implementation passes
 * test/media-store-conformance.ts.
 */
export interface MediaStore {
  /**
   * Takes all bytes under a new id; resolves when they are durable. When it fails, for whatever reason, nothing is kept.
   */
  put(id: string, bytes: AsyncIterable<Uint8Array>, options: PutOptions): Promise<StoredMedia>;
  /** The bytes of a range, by default all; the reader ends or destroys the stream. Throws not_found. */
  open(id: string, range?: ByteRange): Promise<Readable>;
  /** undefined when there is none. */
  sizeBytes(id: string): Promise<number | undefined>;
  /** Deletes for good; nothing happens when there is none. */
  delete(id: string): Promise<void>;
  /** Everything that is kept, in no order. */
  list(): AsyncIterable<{ readonly id: string; readonly putAt: Date }>;
}

/** What put() fails with past its limit. */
export function mediaTooLarge(bytesMax: number): ServiceError {
  return new ServiceError("invalid_argument", `the media is larger than ${bytesMax} bytes`, {
    reason: "PAYLOAD_TOO_LARGE",
    httpStatus: 413,
    metadata: { bytesMax: `${bytesMax}` },
  });
}
