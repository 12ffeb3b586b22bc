import type { Readable } from "node:stream";
import { ServiceError } from "../std/service-error.ts";

/** The facts of a recording that the store finds while writing it. */
export interface StoredMedia {
  readonly sizeBytes: number;
  /** null: the first reader of the media computes it. */
  readonly sha256: Buffer | null;
  /** audio/... or video/..., from the first bytes; application/octet-stream for anything else. */
  readonly contentType: string;
}

/** A range of bytes within the media: both ends are included, and counted from 0. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

export interface PutOptions {
  /** The put of more bytes fails with status 413. */
  readonly bytesMax: number;
  readonly signal?: AbortSignal;
  /** No one else uses the chunks: the store may free their memory early. */
  readonly ownsChunks?: boolean;
}

/**
 * Stores the bytes of recordings by id (a UUID), independent of the database. Every implementation
 * passes test/fixtures/media-store-conformance.ts.
 */
export interface MediaStore {
  /**
   * Writes all bytes under a new id; resolves when they are durable. If it fails, nothing is
   * stored.
   */
  put(id: string, bytes: AsyncIterable<Uint8Array>, options: PutOptions): Promise<StoredMedia>;
  /**
   * The bytes of a range, by default all. The caller must read the stream to its end or destroy it.
   * Throws not_found.
   */
  open(id: string, range?: ByteRange): Promise<Readable>;
  /**
   * The bytes of a range for sending, at half the cost of open(): a chunk is valid until the next
   * one is requested. Throws not_found; the iteration throws if there are fewer bytes.
   */
  openChunks?(id: string, range: ByteRange): Promise<AsyncIterable<Uint8Array>>;
  /** The path of the file if it is on this machine: for reading in this process only. */
  file?(id: string): string;
  /** The size of the media; undefined if it does not exist. */
  sizeBytes(id: string): Promise<number | undefined>;
  /**
   * Deletes media permanently; does nothing if it does not exist. To delete media whose record was
   * just deleted, see deleteBytes().
   */
  delete(id: string): Promise<void>;
  /** Whether delete() keeps the bytes, as in quarantine. */
  readonly keepsAll?: boolean;
  /** Media that was set aside since no record refers to it. */
  readonly removed: RemovedMedia;
  /** The service's notes in the store. */
  readonly notes: StoreNotes;
  /** All media, in no order. */
  list(): AsyncIterable<{ readonly id: string; readonly putAt: Date }>;
  /** Rejects if the store is unusable now. */
  ping(): Promise<void>;
  /** Direct access of clients to the store. */
  readonly direct?: DirectTransfers | undefined;
  /** Unfinished puts, abandoned and running ones, if the store can list them. */
  unfinished?(): AsyncIterable<UnfinishedPut>;
}

/** Media that is no longer served or listed, and is deleted after some days. */
export interface RemovedMedia {
  /** Sets media aside; does nothing if it does not exist. */
  add(id: string): Promise<void>;
  /**
   * Restores media. false: it was not set aside, or there is other media with that id. If that has
   * the same bytes, the removed ones are deleted.
   */
  putBack(id: string): Promise<boolean>;
  list(): AsyncIterable<{ readonly id: string; readonly removedAt: Date }>;
  /** Deletes removed media permanently; does nothing if it does not exist. */
  delete(id: string): Promise<void>;
}

/**
 * "hlust-archive": the archive that the media belongs to. "hlust-pulse": the database that writes
 * to it now.
 */
export type NoteName = "hlust-archive" | "hlust-pulse";

/** Short texts in the store next to the media. */
export interface StoreNotes {
  read(name: NoteName): Promise<string | undefined>;
  /** Creates a note; false: it already exists, and is not changed. */
  create(name: NoteName, text: string): Promise<boolean>;
  replace(name: NoteName, text: string): Promise<void>;
}

/** Transfers between clients and the store without the service, by URLs that work for an hour. */
export interface DirectTransfers {
  /** A URL that accepts PUTs of media, which is not visible before it is adopted. */
  uploadUrl(uploadId: string): Promise<string>;
  /**
   * A URL that serves media to GET and HEAD with this type, to be shown (inline) or saved
   * (attachment).
   */
  downloadUrl(
    id: string,
    as: { readonly contentType: string; readonly disposition: "inline" | "attachment" },
  ): Promise<string>;
  /** The media of the last complete PUT; undefined if there is none. */
  received(uploadId: string): Promise<ReceivedMedia | undefined>;
  /** Every upload with received bytes, in no order. */
  listReceived(): AsyncIterable<ReceivedMedia>;
  /**
   * Copies received bytes to a new id, which no client can overwrite. Throws as put() does, and
   * not_found.
   */
  adopt(
    uploadId: string,
    id: string,
    options: { readonly bytesMax: number },
  ): Promise<Omit<StoredMedia, "sha256"> & { readonly sha256: Buffer | null }>;
  /** Deletes received bytes. */
  discard(uploadId: string): Promise<void>;
  /** Moves received bytes to the removed media, under the id of the upload. */
  setAside(uploadId: string): Promise<void>;
}

export interface ReceivedMedia {
  readonly uploadId: string;
  readonly sizeBytes: number;
  readonly putAt: Date;
}

export interface UnfinishedPut {
  readonly name: string;
  /** When its last bytes arrived. */
  readonly since: Date;
  remove(): Promise<void>;
}

/** The error of put() if the media is larger than its limit. */
export function mediaTooLarge(bytesMax: number): ServiceError {
  return new ServiceError("invalid_argument", `the media is larger than ${bytesMax} bytes`, {
    reason: "PAYLOAD_TOO_LARGE",
    httpStatus: 413,
    metadata: { bytesMax: `${bytesMax}` },
  });
}
