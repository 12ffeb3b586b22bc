import { sql, type Kysely, type Transaction } from "kysely";
import type { Tables } from "../database/tables.ts";
import type { Log } from "../std/log.ts";
import { ServiceError } from "../std/service-error.ts";
import { askForDescription } from "./description-queue.ts";
import { deleteBytes, findMedia, insertMedia, releaseMedia, type Media } from "./media-records.ts";
import type { MediaStore } from "./media-store.ts";
import { checkStoredBytes, holdStoredBytes, type StoredBytesLimit } from "./stored-bytes.ts";

/**
 * An upload that has no media yet. Its bytes count against the account's limit if `storedBytesMax`
 * is more than 0.
 */
export interface OpenUpload extends StoredBytesLimit {
  readonly accountId: string;
  readonly transcriptId: string | null;
  /** The name of the file; "" if it is unknown. */
  readonly fileName: string;
}

/** Jobs that were submitted before their content. */
export interface ContentJobs {
  /** Starts the job that waits for an upload, if there is one. */
  start(trx: Transaction<Tables>, uploadId: string, mediaId: string): Promise<void>;
  /** Called after the commit. */
  announce(): void;
}

/**
 * Finds an upload that has no media yet. `otherwise`: the limit for accounts that have none of
 * their own. Throws not_found, or already_exists if the upload was used.
 */
export async function findOpenUpload(
  db: Kysely<Tables>,
  uploadId: string,
  otherwise: StoredBytesLimit,
): Promise<OpenUpload> {
  const row = await db
    .selectFrom("upload")
    .innerJoin("account", "account.id", "account_id")
    .where("upload.id", "=", uploadId)
    .select(["account_id", "transcript_id", "media_id", "file_name"])
    .select(sql<string | null>`account.limits->>'storedBytes'`.as("stored_bytes_max"))
    .executeTakeFirst();
  const upload = openUpload(row);
  return {
    accountId: upload.account_id,
    transcriptId: upload.transcript_id,
    fileName: upload.file_name,
    storedBytesMax: Number(upload.stored_bytes_max ?? otherwise.storedBytesMax),
  };
}

/**
 * Records stored media as the media of an upload and its transcript, and deletes the transcript's
 * previous media. Throws as findOpenUpload() does, the signal's reason if it has aborted, or
 * STORAGE_LIMIT if the account's limit is exceeded. If it throws, the bytes are deleted. With
 * `mayRepeat`, they are deleted only after a refusal, and the call may be repeated after another
 * failure.
 */
export async function finishUpload(
  parts: StoredBytesLimit & {
    readonly db: Kysely<Tables>;
    readonly store: MediaStore;
    readonly log: Log;
    readonly contentJobs?: ContentJobs | undefined;
  },
  uploadId: string,
  media: Media,
  options: { readonly signal?: AbortSignal | undefined; readonly mayRepeat?: boolean } = {},
): Promise<void> {
  const { signal, mayRepeat = false } = options;
  const { db, log } = parts;
  try {
    signal?.throwIfAborted();
    const replaced = await db
      .transaction()
      .execute(async (trx) => await recordUpload(trx, uploadId, media, parts));
    parts.contentJobs?.announce();
    log.info({ uploadId, mediaId: media.id, sizeBytes: media.sizeBytes }, "upload.received");
    if (replaced !== undefined) await deleteBytes(parts, [replaced], "media_replaced");
  } catch (error) {
    if (mayRepeat && !(error instanceof ServiceError)) throw error;
    // A commit may have succeeded even if its confirmation was lost. Bytes are deleted only if they
    // are certainly not recorded.
    const isRecorded = (await findMedia(db, media.id).catch(() => "unknown")) !== undefined;
    if (!isRecorded) await deleteBytes(parts, [media.id], "upload_not_taken");
    throw error;
  }
}

function openUpload<Row extends { readonly media_id: string | null }>(
  upload: Row | undefined,
): Row {
  if (!upload) throw uploadDeleted();
  if (upload.media_id === null) return upload;
  throw new ServiceError(
    "already_exists",
    "this upload URL has already been used: call initupload for a new one",
    {
      reason: "UPLOAD_USED",
    },
  );
}

function uploadDeleted(): ServiceError {
  return new ServiceError("not_found", "the upload does not exist");
}

/**
 * Assigns the media to the upload and its transcript. Returns the id of any media that is no longer
 * referenced.
 */
async function recordUpload(
  trx: Transaction<Tables>,
  uploadId: string,
  media: Media,
  limit: StoredBytesLimit & { readonly contentJobs?: ContentJobs | undefined },
): Promise<string | undefined> {
  const upload = await findOpenUpload(trx, uploadId, limit);
  const { accountId, storedBytesMax } = upload;
  const storedMax = storedBytesMax > 0 ? await holdStoredBytes(trx, accountId, limit) : undefined;
  const released = await giveMedia(trx, { ...upload, uploadId }, media);
  await limit.contentJobs?.start(trx, uploadId, media.id);
  await checkStoredBytes(trx, accountId, storedMax);
  return released;
}

async function giveMedia(
  trx: Transaction<Tables>,
  { uploadId, accountId, transcriptId, fileName }: OpenUpload & { readonly uploadId: string },
  media: Media,
): Promise<string | undefined> {
  // The transcript is locked first, because its deletion takes the locks in this order.
  const transcript =
    transcriptId === null
      ? undefined
      : await trx
          .selectFrom("transcript")
          .where("id", "=", transcriptId)
          .select(["id", "media_id"])
          .forUpdate()
          .executeTakeFirst();
  const locked = trx.selectFrom("upload").where("id", "=", uploadId).select("media_id").forUpdate();
  openUpload(await locked.executeTakeFirst());
  await insertMedia(trx, { ...media, accountId, fileName: transcript ? fileName : "" });
  await trx.updateTable("upload").set({ media_id: media.id }).where("id", "=", uploadId).execute();
  // An upload without a transcript is described by the job that uses it.
  if (!transcript) return undefined;
  await askForDescription(trx, media.id);
  await trx
    .updateTable("transcript")
    .set({
      media_id: media.id,
      // The known facts and the values that callers set describe the previous media.
      media_was_replaced: true,
      file_type_is_declared: false,
      recording_ms: null,
      recording_file_type: null,
      listed_ms: null,
    })
    .where("id", "=", transcript.id)
    .execute();
  const old = transcript.media_id;
  return old !== null && (await releaseMedia(trx, old)) ? old : undefined;
}
