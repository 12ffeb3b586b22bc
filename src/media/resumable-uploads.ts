import type { Kysely } from "kysely";
import type { Tables } from "../database/tables.ts";
import { newId } from "../std/ids.ts";
import { ServiceError, shown } from "../std/service-error.ts";
import { holdUpload } from "./hold-upload.ts";
import { deleteBytes, releaseMedia } from "./media-records.ts";
import {
  currentState,
  offsetMismatch,
  receivePart,
  resumableMs,
  tooLong,
  type FoundUpload,
  type ResumableParts,
  type ResumableUpload,
  type SentPart,
} from "./receive-part.ts";
import { roomOf, storageLimit } from "./stored-bytes.ts";
import { insertUpload } from "./uploads.ts";

/** What a client announces about an upload. */
export interface AnnouncedUpload {
  /** The transcript that receives the media; null for a job. */
  readonly transcriptId: string | null;
  readonly fileName: string;
  /** At most `bytesMax`. */
  readonly sizeBytes: number;
  readonly metadata: string;
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

export function createResumableUploads(parts: ResumableParts): ResumableUploads {
  const { db, store, uploadBytesMax, storedBytesMax = 0, now = Date.now } = parts;
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
      return await currentState(parts, upload);
    },
    async append(accountId, id, part) {
      const upload = await findUpload(db, accountId, id, now());
      if (upload.mediaId === null) return await receivePart(parts, upload, part);
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
      await store.partial.abort(id);
    },
  };
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
