import type { Readable } from "node:stream";
import { ServiceError } from "../std/service-error.ts";

/** What the store learnt of a recording while taking it. */
export interface StoredMedia {
  readonly sizeBytes: number;
  /** null: whoever reads the media first learns it. */
  readonly sha256: Buffer | null;
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
  /** Nobody else has the chunks: the store may give their memory back before they are forgotten. */
  readonly ownsChunks?: boolean;
}

/**
 * Keeps the bytes of recordings by id (a UUID). What the database knows of them is not its matter.
 * Every implementation passes test/media-store-conformance.ts.
 */
export interface MediaStore {
  /**
   * Takes all bytes under a new id; resolves when they are durable. When it fails, for whatever
   * reason, nothing is kept.
   */
  put(id: string, bytes: AsyncIterable<Uint8Array>, options: PutOptions): Promise<StoredMedia>;
  /**
   * The bytes of a range, by default all; the reader ends or destroys the stream. Throws not_found.
   */
  open(id: string, range?: ByteRange): Promise<Readable>;
  /**
   * Where the service itself sends the bytes, the same at half the cost: a chunk is gone once the
   * next one is asked for. Throws not_found; later, when there are fewer bytes.
   */
  openChunks?(id: string, range: ByteRange): Promise<AsyncIterable<Uint8Array>>;
  /**
   * Where the bytes lie, when that is a file of this machine: for this process alone, to be read.
   */
  file?(id: string): string;
  /** undefined when there is none. */
  sizeBytes(id: string): Promise<number | undefined>;
  /**
   * Deletes for good; nothing happens when there is none. For media that the database has just
   * forgotten: see deleteBytes().
   */
  delete(id: string): Promise<void>;
  /** Whether delete() keeps what it is to delete, as in quarantine. */
  readonly keepsAll?: boolean;
  /** Media that was set aside because nothing knew it. */
  readonly removed: RemovedMedia;
  /** What the service writes down beside the media. */
  readonly notes: StoreNotes;
  /** Everything that is kept, in no order. */
  list(): AsyncIterable<{ readonly id: string; readonly putAt: Date }>;
  /** Rejects when the store cannot be used now. */
  ping(): Promise<void>;
  /** Where callers may reach the store itself. */
  readonly direct?: DirectTransfers | undefined;
  /** What puts have left that never ended, and those that go on; where the store can tell. */
  unfinished?(): AsyncIterable<UnfinishedPut>;
}

/** Media that is no longer served or listed, and is kept for some days before it goes for good. */
export interface RemovedMedia {
  /** Sets media aside; nothing happens when there is none. */
  add(id: string): Promise<void>;
  /**
   * Makes it media again. false: nothing was set aside, or there is media of that id, beside which
   * the same bytes then go.
   */
  putBack(id: string): Promise<boolean>;
  list(): AsyncIterable<{ readonly id: string; readonly removedAt: Date }>;
  /** Deletes for good; nothing happens when there is none. */
  delete(id: string): Promise<void>;
}

/**
 * "hlust-archive": which archive the media belongs to. "hlust-pulse": which database writes to it
 * now.
 */
export type NoteName = "hlust-archive" | "hlust-pulse";

/** Short texts that lie beside the media, and are none. */
export interface StoreNotes {
  read(name: NoteName): Promise<string | undefined>;
  /** false: there is one already, which stays as it is. */
  create(name: NoteName, text: string): Promise<boolean>;
  replace(name: NoteName, text: string): Promise<void>;
}

/** Bytes that go between callers and the store, past the service, by URLs that work for an hour. */
export interface DirectTransfers {
  /** Takes one PUT of media or more, of which nothing is visible before it is adopted. */
  uploadUrl(uploadId: string): Promise<string>;
  /** Gives media to GET and HEAD as this type, to be shown (inline) or kept (attachment). */
  downloadUrl(
    id: string,
    as: { readonly contentType: string; readonly disposition: "inline" | "attachment" },
  ): Promise<string>;
  /** The last PUT that came whole; undefined when there is none. */
  received(uploadId: string): Promise<ReceivedMedia | undefined>;
  /** Every upload of which there is something, in no order. */
  listReceived(): AsyncIterable<ReceivedMedia>;
  /**
   * Keeps what was received under a new id, where no caller can write. Throws as put() does, and
   * not_found.
   */
  adopt(
    uploadId: string,
    id: string,
    options: { readonly bytesMax: number },
  ): Promise<Omit<StoredMedia, "sha256"> & { readonly sha256: Buffer | null }>;
  /** Deletes what was received. */
  discard(uploadId: string): Promise<void>;
  /** Puts what was received among the removed media, by the id of its upload. */
  setAside(uploadId: string): Promise<void>;
}

export interface ReceivedMedia {
  readonly uploadId: string;
  readonly sizeBytes: number;
  readonly putAt: Date;
}

export interface UnfinishedPut {
  readonly name: string;
  /** When its last bytes came. */
  readonly since: Date;
  remove(): Promise<void>;
}

/** What put() fails with past its limit. */
export function mediaTooLarge(bytesMax: number): ServiceError {
  return new ServiceError("invalid_argument", `the media is larger than ${bytesMax} bytes`, {
    reason: "PAYLOAD_TOO_LARGE",
    httpStatus: 413,
    metadata: { bytesMax: `${bytesMax}` },
  });
}
