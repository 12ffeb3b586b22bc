import type { Kysely } from "kysely";
import type { Tables } from "../database/tables.ts";
import { newId } from "../std/ids.ts";
import { errorFields, type Log } from "../std/log.ts";
import { ServiceError, shown } from "../std/service-error.ts";
import { finishUpload } from "./finish-upload.ts";
import { holdUpload } from "./hold-upload.ts";
import { deleteBytes, releaseMedia } from "./media-records.ts";
import type { MediaStore } from "./media-store.ts";
import { roomOf, storageLimit } from "./stored-bytes.ts";
import { insertUpload } from "./uploads.ts";

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

/** What a client announces about an upload. */
export interface AnnouncedUpload {
  /** The transcript that receives the media; null for a job. */
  readonly transcriptId: string | null;
  readonly fileName: string;
  /** At most `bytesMax`. */
  readonly sizeBytes: number;
  readonly metadata: string;
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

/**
 * Uploads that continue where they were interrupted. Uploads of other accounts do not exist:
 * methods throw not_found. A method that is called while another request still sends bytes to the
 * upload ends that request first, because clients continue before the service notices that their
 * connection is lost.
 */
export interface ResumableUploads {
  readonly bytesMax: number;
  /**
   * Creates an upload. Returns undefined if the account has no such transcript. Throws
   * STORAGE_LIMIT if the account cannot store media of this size.
   */
  begin(accountId: string, announced: AnnouncedUpload): Promise<ResumableUpload | undefined>;
  find(accountId: string, id: string): Promise<ResumableUpload>;
  /**
   * Appends bytes. Resolves when they are durable, and the media is recorded if they are the last
   * ones. Bytes that arrived before a failure are kept. Throws OFFSET_MISMATCH unless `offset` is
   * receivedBytes, UPLOAD_TOO_LONG for more bytes than the media has, and STORAGE_LIMIT.
   */
  append(accountId: string, id: string, part: SentPart): Promise<ResumableUpload>;
  /** Deletes an upload and its bytes. Throws UPLOAD_USED if its media is in use. */
  remove(accountId: string, id: string): Promise<void>;
}

interface ResumableParts {
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

export function createResumableUploads(parts: ResumableParts): ResumableUploads {
  const { db, store, uploadBytesMax, storedBytesMax = 0, log, now = Date.now } = parts;
  const { partial } = store;

  /** Records the number of durable bytes, and keeps the upload for another day. */
  const note = async (id: string, receivedBytes: number): Promise<Date> => {
    const expiresAt = new Date(now() + resumableMs);
    const change = { received_bytes: receivedBytes, expires_at: expiresAt };
    await db.updateTable("upload").set(change).where("id", "=", id).execute();
    return expiresAt;
  };

  /**
   * Makes the bytes of a complete upload the media of its resource. May be repeated after a crash
   * or a failure of the database.
   */
  const finish = async (upload: FoundUpload): Promise<ResumableUpload> => {
    const { id, sizeBytes } = upload;
    await note(id, sizeBytes);
    const stored = await partial.finish(id);
    const options = { mayRepeat: true };
    try {
      await finishUpload({ db, store, log, storedBytesMax }, id, { id, ...stored }, options);
    } catch (error) {
      // The bytes of a refused upload are deleted.
      if (error instanceof ServiceError) await note(id, 0);
      throw error;
    }
    return { ...upload, receivedBytes: sizeBytes };
  };

  /** Returns an upload that this call holds, with its durable bytes. */
  const current = async (upload: FoundUpload): Promise<ResumableUpload> => {
    const { id, sizeBytes } = upload;
    const receivedBytes = await partial.committedBytes(id);
    // An earlier request has ended between the last byte and the record.
    const wasFinished = receivedBytes === 0 && upload.receivedBytes === sizeBytes;
    if (receivedBytes === sizeBytes || (wasFinished && (await store.sizeBytes(id)) === sizeBytes)) {
      return await finish(upload);
    }
    return { ...upload, receivedBytes };
  };

  const receive = async (upload: FoundUpload, part: SentPart): Promise<ResumableUpload> => {
    const { id, sizeBytes } = upload;
    await using hold = await holdUpload(db, id, part.signal);
    const { receivedBytes } = await current(upload);
    if (part.offset !== receivedBytes) throw offsetMismatch(part.offset, receivedBytes);
    const leftBytes = sizeBytes - receivedBytes;
    if ((part.announcedBytes ?? 0) > leftBytes) throw tooLong(upload, leftBytes);
    const room = await roomOf(db, { ...upload, uploadId: id }, { storedBytesMax });
    if (room && sizeBytes > room.bytes) throw storageLimit(room.max);
    part.onReady();
    const signal = AbortSignal.any([part.signal, hold.signal]);
    const bytes = atMost(part.bytes, leftBytes, () => tooLong(upload, leftBytes));
    const { ownsChunks } = part;
    let received: number;
    try {
      received = await partial.append(id, receivedBytes, bytes, {
        bytesMax: sizeBytes,
        signal,
        ownsChunks,
      });
    } catch (error) {
      await note(id, await partial.committedBytes(id)).catch((failure: unknown) => {
        log.warn({ uploadId: id, ...errorFields(failure) }, "upload.not_noted");
      });
      throw error;
    }
    if (received === sizeBytes) return await finish(upload);
    return { ...upload, receivedBytes: received, expiresAt: await note(id, received) };
  };

  return {
    bytesMax: uploadBytesMax,
    async begin(accountId, { transcriptId, fileName, sizeBytes, metadata }) {
      const room = await roomOf(db, { accountId, transcriptId }, { storedBytesMax });
      if (room && sizeBytes > room.bytes) throw storageLimit(room.max);
      const id = newId(now());
      const expiresAt = new Date(now() + resumableMs);
      const isBegun = await insertUpload(db, {
        id,
        account_id: accountId,
        transcript_id: transcriptId,
        file_name: fileName,
        expires_at: expiresAt,
        created_at: new Date(now()),
        media_id: null,
        size_bytes: sizeBytes,
        client_metadata: metadata,
      });
      return isBegun ? { id, sizeBytes, receivedBytes: 0, metadata, expiresAt } : undefined;
    },
    async find(accountId, id) {
      const upload = await findUpload(db, accountId, id, now());
      if (upload.mediaId !== null) return upload;
      await using _hold = await holdUpload(db, id);
      return await current(upload);
    },
    async append(accountId, id, part) {
      const upload = await findUpload(db, accountId, id, now());
      if (upload.mediaId === null) return await receive(upload, part);
      if (part.offset !== upload.sizeBytes) throw offsetMismatch(part.offset, upload.sizeBytes);
      if ((part.announcedBytes ?? 0) > 0) throw tooLong(upload, 0);
      return upload;
    },
    async remove(accountId, id) {
      const { mediaId } = await findUpload(db, accountId, id, 0);
      if (mediaId !== null) {
        const isFree = await db
          .transaction()
          .execute(async (trx) => await releaseMedia(trx, mediaId));
        if (!isFree) throw inUse();
        await deleteBytes(parts, [mediaId], "upload_deleted");
        return;
      }
      await using _hold = await holdUpload(db, id);
      await db.deleteFrom("upload").where("id", "=", id).where("media_id", "is", null).execute();
      await partial.abort(id);
    },
  };
}

interface FoundUpload extends ResumableUpload {
  readonly accountId: string;
  readonly transcriptId: string | null;
  /** The media, if the upload is complete. */
  readonly mediaId: string | null;
}

/** Finds an upload of an account. Throws not_found, or UPLOAD_EXPIRED before it is deleted. */
async function findUpload(
  db: Kysely<Tables>,
  accountId: string,
  id: string,
  now: number,
): Promise<FoundUpload> {
  const row = await db
    .selectFrom("upload")
    .where("id", "=", id)
    .where("account_id", "=", accountId)
    .where("size_bytes", "is not", null)
    .selectAll()
    .executeTakeFirst();
  if (!row) throw new ServiceError("not_found", `there is no upload ${shown(`uploads/${id}`)}`);
  if (row.media_id === null && row.expires_at.getTime() <= now) throw expired(row.expires_at);
  const sizeBytes = Number(row.size_bytes);
  return {
    id,
    accountId,
    transcriptId: row.transcript_id,
    mediaId: row.media_id,
    sizeBytes,
    receivedBytes: row.media_id === null ? Number(row.received_bytes) : sizeBytes,
    metadata: row.client_metadata,
    expiresAt: row.expires_at,
  };
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

function offsetMismatch(offset: number, receivedBytes: number): ServiceError {
  return new ServiceError(
    "aborted",
    `the bytes begin at ${offset}, but ${receivedBytes} bytes have arrived: send the next ones`,
    { reason: "OFFSET_MISMATCH", metadata: { receivedBytes: `${receivedBytes}` } },
  );
}

function tooLong({ sizeBytes }: ResumableUpload, leftBytes: number): ServiceError {
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

function expired(expiresAt: Date): ServiceError {
  return new ServiceError(
    "not_found",
    `the upload expired at ${expiresAt.toISOString()}: create another one`,
    { reason: "UPLOAD_EXPIRED", httpStatus: 410 },
  );
}

function inUse(): ServiceError {
  return new ServiceError(
    "already_exists",
    "the upload is complete, and a transcript or a job uses its media: delete that instead",
    { reason: "UPLOAD_USED" },
  );
}
