import type { Readable } from "node:stream";
import { ServiceError } from "../std/service-error.ts";

/** The facts about a recording that the store determines while writing it. */
export interface StoredMedia {
  readonly sizeBytes: number;
  /** null if the first reader of the media has to compute the hash. */
  readonly sha256: Buffer | null;
  /**
   * audio/... or video/..., determined from the first bytes; application/octet-stream for anything
   * else.
   */
  readonly contentType: string;
}

/** A range of bytes within the media. Both ends are included and counted from 0. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

export interface PutOptions {
  /** The maximum size of the media. A put of more bytes fails with status 413. */
  readonly bytesMax: number;
  readonly signal?: AbortSignal;
  /** Whether no other code uses the chunks, so that the store may free their memory early. */
  readonly ownsChunks?: boolean;
}

/**
 * Stores the bytes of recordings by id (a UUID), independently of the database. Every
 * implementation passes test/fixtures/media-store-conformance.ts.
 */
export interface MediaStore {
  /**
   * Writes all bytes under a new id. Resolves when the bytes are durable. If the put fails, nothing
   * is stored.
   */
  put(id: string, bytes: AsyncIterable<Uint8Array>, options: PutOptions): Promise<StoredMedia>;
  /**
   * Opens the bytes of a range, by default all bytes. The caller must read the stream to its end or
   * destroy it. Throws not_found.
   */
  open(id: string, range?: ByteRange): Promise<Readable>;
  /**
   * Opens the bytes of a range for sending, at half the cost of open(). A chunk is valid until the
   * next one is requested. Throws not_found. The iteration throws if there are fewer bytes.
   */
  openChunks?(id: string, range: ByteRange): Promise<AsyncIterable<Uint8Array>>;
  /**
   * Returns the path of the file if it is on this machine. Only this process may use the path, and
   * only for reading.
   */
  file?(id: string): string;
  /**
   * Makes a file of this machine media without copying its bytes; both share them, so the file must
   * never be changed. Returns false if that is not possible. The name is not durable before the
   * folder of file() is synced.
   */
  adopt?(id: string, path: string): Promise<boolean>;
  /** Returns the size of the media, or undefined if the media does not exist. */
  sizeBytes(id: string): Promise<number | undefined>;
  /**
   * Deletes media permanently. Does nothing if the media does not exist. To delete media whose
   * record was just deleted, see deleteBytes().
   */
  delete(id: string): Promise<void>;
  /** Whether delete() preserves the bytes, as in quarantine. */
  readonly keepsAll?: boolean;
  /** Media that is not complete yet. */
  readonly partial: PartialMedia;
  /** Media that was set aside because no record refers to it. */
  readonly removed: RemovedMedia;
  /** The service's notes in the store. */
  readonly notes: StoreNotes;
  /** Lists all media, in no particular order. */
  list(): AsyncIterable<{ readonly id: string; readonly putAt: Date }>;
  /** Rejects if the store is unusable now. */
  ping(): Promise<void>;
  /** Direct client access to the store. */
  readonly direct?: DirectTransfers | undefined;
  /** Lists unfinished puts, both abandoned and running, if the store can list them. */
  unfinished?(): AsyncIterable<UnfinishedPut>;
}

/**
 * Media whose bytes arrive in several calls, which may come to several nodes, before and after
 * restarts. Only one call at a time may write to an id: see holdUpload().
 */
export interface PartialMedia {
  /** Returns the number of durable bytes: 0 for an id without partial media. */
  committedBytes(id: string): Promise<number>;
  /**
   * Appends bytes at an offset, which must be committedBytes(); throws OFFSET_MISMATCH for another
   * one. Resolves to the number of durable bytes. If the source fails or the signal aborts, makes
   * durable what has arrived, then throws. Throws as put() does for media of more than bytesMax.
   */
  append(
    id: string,
    offset: number,
    bytes: AsyncIterable<Uint8Array>,
    options: PutOptions,
  ): Promise<number>;
  /**
   * Makes the durable bytes the media with the same id. If the media exists already, returns its
   * facts, so that the call can be repeated. Throws not_found if there is neither.
   */
  finish(id: string): Promise<StoredMedia>;
  /** Deletes partial media. Does nothing if there is none. */
  abort(id: string): Promise<void>;
  /** Lists all partial media, with the time at which bytes were last stored, or an earlier one. */
  list(): AsyncIterable<{ readonly id: string; readonly since: Date }>;
}

/** Media that is no longer served or listed, and will be deleted after some days. */
export interface RemovedMedia {
  /** Sets media aside. Does nothing if the media does not exist. */
  add(id: string): Promise<void>;
  /**
   * Restores media. Returns false if the media was not set aside, or if other media has that id. If
   * the other media has the same bytes, the removed bytes are deleted.
   */
  putBack(id: string): Promise<boolean>;
  list(): AsyncIterable<{ readonly id: string; readonly removedAt: Date }>;
  /** Deletes removed media permanently. Does nothing if the media does not exist. */
  delete(id: string): Promise<void>;
}

/**
 * "hlust-archive" names the archive that the media belongs to. "hlust-pulse" names the database
 * that currently writes to it.
 */
export type NoteName = "hlust-archive" | "hlust-pulse";

/** Short texts in the store next to the media. */
export interface StoreNotes {
  read(name: NoteName): Promise<string | undefined>;
  /** Creates a note. Returns false if the note already exists; an existing note is not changed. */
  create(name: NoteName, text: string): Promise<boolean>;
  replace(name: NoteName, text: string): Promise<void>;
}

/**
 * Transfers between clients and the store that bypass the service, by URLs that work for an hour.
 */
export interface DirectTransfers {
  /** Returns a URL that accepts PUTs of media. The media is not visible before it is adopted. */
  uploadUrl(uploadId: string): Promise<string>;
  /**
   * Returns a URL that serves media to GET and HEAD with this type, to be shown (inline) or saved
   * (attachment).
   */
  downloadUrl(
    id: string,
    as: { readonly contentType: string; readonly disposition: "inline" | "attachment" },
  ): Promise<string>;
  /** Returns the media of the last complete PUT, or undefined if there is none. */
  received(uploadId: string): Promise<ReceivedMedia | undefined>;
  /** Lists every upload with received bytes, in no particular order. */
  listReceived(): AsyncIterable<ReceivedMedia>;
  /**
   * Copies received bytes to a new id, which no client can overwrite. Throws as put() does, and
   * throws not_found.
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
  /** The time at which the last bytes arrived. */
  readonly since: Date;
  remove(): Promise<void>;
}

/** Returns the error of put() for media that is larger than its limit. */
export function mediaTooLarge(bytesMax: number): ServiceError {
  return new ServiceError("invalid_argument", `the media is larger than ${bytesMax} bytes`, {
    reason: "PAYLOAD_TOO_LARGE",
    httpStatus: 413,
    metadata: { bytesMax: `${bytesMax}` },
  });
}

/** Returns the error of append() at another offset than the number of durable bytes. */
export function offsetMismatch(offset: number, committedBytes: number): ServiceError {
  return new ServiceError(
    "out_of_range",
    `the write begins at byte ${offset}, but ${committedBytes} bytes are stored: continue there`,
    { reason: "OFFSET_MISMATCH", metadata: { committedBytes: `${committedBytes}` } },
  );
}
