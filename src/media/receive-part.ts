import type { Kysely } from "kysely";
import type { Tables } from "../database/tables.ts";
import { errorFields, type Log } from "../std/log.ts";
import { ServiceError } from "../std/service-error.ts";
import { finishUpload } from "./finish-upload.ts";
import { holdUpload } from "./hold-upload.ts";
import type { MediaStore } from "./media-store.ts";
import { roomOf, storageLimit } from "./stored-bytes.ts";

/** How long an upload is kept after its last byte has arrived. */
export const resumableMs = 24 * 3_600_000;

/** An upload whose bytes arrive in several requests. */
export interface ResumableUpload {
  readonly id: string;
  /** The size of the whole media. */
  readonly sizeBytes: number;
  /** The number of durable bytes: the offset of the next ones. */
  readonly receivedBytes: number;
  /** The metadata that its client sent with its creation. */
  readonly metadata: string;
  /** When the upload is deleted if no more bytes arrive. */
  readonly expiresAt: Date;
}

/** An upload with its account and resource. */
export interface FoundUpload extends ResumableUpload {
  readonly accountId: string;
  readonly transcriptId: string | null;
  /** The media, if the upload is complete. */
  readonly mediaId: string | null;
}

/** Bytes of an upload that one request sends. */
export interface SentPart {
  readonly offset: number;
  /** The number of bytes, if it is known. */
  readonly announcedBytes: number | undefined;
  readonly bytes: AsyncIterable<Uint8Array>;
  readonly signal: AbortSignal;
  /** Whether no other code uses the chunks. */
  readonly ownsChunks: boolean;
  /** Called when the call is not refused, before the first byte is requested. */
  readonly onReady: () => void;
}

export interface ResumableParts {
  readonly db: Kysely<Tables>;
  readonly store: MediaStore;
  readonly uploadBytesMax: number;
  /**
   * The storage limit in bytes for accounts that have none of their own. Default: 0, which means
   * unlimited.
   */
  readonly storedBytesMax?: number;
  readonly log: Log;
  readonly now?: () => number;
}

/**
 * Appends the bytes of one request to an upload: see ResumableUploads.append(). The last bytes make
 * it the media of its resource.
 */
export async function receivePart(
  parts: ResumableParts,
  upload: FoundUpload,
  part: SentPart,
): Promise<ResumableUpload> {
  const { db, store, storedBytesMax = 0 } = parts;
  const { id, sizeBytes } = upload;
  await using hold = await holdUpload(db, id, part.signal);
  const { receivedBytes } = await currentState(parts, upload);
  if (part.offset !== receivedBytes) throw offsetMismatch(part.offset, receivedBytes);
  const leftBytes = sizeBytes - receivedBytes;
  if ((part.announcedBytes ?? 0) > leftBytes) throw tooLong(upload, leftBytes);
  const room = await roomOf(db, { ...upload, uploadId: id }, { storedBytesMax });
  if (room && sizeBytes > room.bytes) throw storageLimit(room.max);
  part.onReady();
  const bytes = atMost(part.bytes, leftBytes, () => tooLong(upload, leftBytes));
  const options = {
    bytesMax: sizeBytes,
    signal: AbortSignal.any([part.signal, hold.signal]),
    ownsChunks: part.ownsChunks,
  };
  const received = await store.partial
    .append(id, receivedBytes, bytes, options)
    .catch(async (error: unknown) => {
      await noteKept(parts, id);
      throw error;
    });
  if (received === sizeBytes) return await finish(parts, upload);
  return { ...upload, receivedBytes: received, expiresAt: await note(parts, id, received) };
}

/** Returns the state of an upload that the caller holds. Records its media if it is complete. */
export async function currentState(
  parts: ResumableParts,
  upload: FoundUpload,
): Promise<ResumableUpload> {
  const { store } = parts;
  const { id, sizeBytes } = upload;
  const receivedBytes = await store.partial.committedBytes(id);
  // An earlier request has ended between the last byte and the record.
  const wasFinished = receivedBytes === 0 && upload.receivedBytes === sizeBytes;
  if (receivedBytes === sizeBytes || (wasFinished && (await store.sizeBytes(id)) === sizeBytes)) {
    return await finish(parts, upload);
  }
  return { ...upload, receivedBytes };
}

/**
 * Makes the bytes of a complete upload the media of its resource. May be repeated after a crash or
 * a failure of the database.
 */
async function finish(parts: ResumableParts, upload: FoundUpload): Promise<ResumableUpload> {
  const { db, store, storedBytesMax = 0, log } = parts;
  const { id, sizeBytes } = upload;
  await note(parts, id, sizeBytes);
  const media = { id, ...(await store.partial.finish(id)) };
  try {
    await finishUpload({ db, store, storedBytesMax, log }, id, media, { mayRepeat: true });
  } catch (error) {
    // The bytes of a refused upload were deleted.
    if (error instanceof ServiceError) await note(parts, id, 0);
    throw error;
  }
  return { ...upload, receivedBytes: sizeBytes };
}

/** Records the number of durable bytes, and keeps the upload for another day. */
async function note(
  { db, now = Date.now }: ResumableParts,
  id: string,
  receivedBytes: number,
): Promise<Date> {
  const expiresAt = new Date(now() + resumableMs);
  const change = { received_bytes: receivedBytes, expires_at: expiresAt };
  await db.updateTable("upload").set(change).where("id", "=", id).execute();
  return expiresAt;
}

/** Records the bytes that were kept of an interrupted request. */
async function noteKept(parts: ResumableParts, id: string): Promise<void> {
  try {
    await note(parts, id, await parts.store.partial.committedBytes(id));
  } catch (error) {
    parts.log.warn({ uploadId: id, ...errorFields(error) }, "upload.not_noted");
  }
}

/** Yields bytes until there are more than `bytesMax`, which throws `failure`. */
async function* atMost(
  bytes: AsyncIterable<Uint8Array>,
  bytesMax: number,
  failure: () => ServiceError,
): AsyncGenerator<Uint8Array, void> {
  let count = 0;
  for await (const chunk of bytes) {
    count += chunk.length;
    if (count > bytesMax) throw failure();
    yield chunk;
  }
}

export function offsetMismatch(offset: number, receivedBytes: number): ServiceError {
  return new ServiceError(
    "aborted",
    `the bytes begin at ${offset}, but ${receivedBytes} bytes have arrived: send the next ones`,
    { reason: "OFFSET_MISMATCH", metadata: { receivedBytes: `${receivedBytes}` } },
  );
}

export function tooLong({ sizeBytes }: ResumableUpload, leftBytes: number): ServiceError {
  return new ServiceError(
    "invalid_argument",
    `the media has ${sizeBytes} bytes, of which ${leftBytes} are missing: the request has more`,
    {
      reason: "UPLOAD_TOO_LONG",
      httpStatus: 413,
      metadata: { sizeBytes: `${sizeBytes}` },
    },
  );
}
