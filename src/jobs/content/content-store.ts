import { sql, type Kysely, type Transaction } from "kysely";
import type { TranscriptJobTable } from "../../database/job-tables.ts";
import { later } from "../../database/lease.ts";
import type { Tables } from "../../database/tables.ts";
import type { MediaStore } from "../../media/media-store.ts";
import { newId } from "../../std/ids.ts";
import { errorFields, type Log } from "../../std/log.ts";
import { turnMin, turnOf, type JobSource, type NewJob } from "../job-store.ts";

/** The time after the last write in which the content of a job must be complete. */
export const contentMsMax = 24 * 3_600_000;

/** Returns the source of a job whose content is sent later: a new upload for it. */
export function uploadFor({ now }: Pick<NewJob, "now">): JobSource {
  const [uploadId, contentTranscriptId] = [newId(now.getTime()), newId(now.getTime())];
  return { uploadId, contentTranscriptId };
}

/** Inserts the uploads of jobs whose content is sent later. */
export async function insertUploads(
  trx: Transaction<Tables>,
  jobs: readonly NewJob[],
): Promise<void> {
  const uploads = jobs.flatMap(({ accountId, source, now }) =>
    "contentTranscriptId" in source
      ? {
          id: source.uploadId,
          account_id: accountId,
          transcript_id: null,
          media_id: null,
          created_at: now,
          expires_at: later(contentMsMax),
        }
      : [],
  );
  if (uploads.length > 0) await trx.insertInto("upload").values(uploads).execute();
}

/** Removes the uploads of jobs that were not inserted. */
export async function removeUploadsOf(
  trx: Transaction<Tables>,
  jobs: readonly NewJob[],
): Promise<void> {
  const ids = jobs.flatMap(({ source }) =>
    "contentTranscriptId" in source ? source.uploadId : [],
  );
  if (ids.length > 0) await trx.deleteFrom("upload").where("id", "in", ids).execute();
}

/** The content of a job, which arrives after the job was submitted. */
export interface JobContent {
  readonly jobId: string;
  readonly accountId: string;
  readonly state: TranscriptJobTable["state"];
  /** The upload; undefined after it was deleted. */
  readonly uploadId: string | undefined;
  /** The media, once the content is complete. */
  readonly media: { readonly id: string; readonly sizeBytes: number } | undefined;
}

/** Finds the content for a later transcript. Returns undefined if the account has no such job. */
export async function findContent(
  db: Kysely<Tables>,
  accountId: string,
  transcriptId: string,
): Promise<JobContent | undefined> {
  const row = await db
    .selectFrom("transcript_job as job")
    .leftJoin("upload", "upload.id", "job.upload_id")
    .leftJoin("media", "media.id", "upload.media_id")
    .where("job.content_transcript_id", "=", transcriptId)
    .where("job.account_id", "=", accountId)
    .select(["job.id", "job.state", "upload.id as upload_id"])
    .select(["media.id as media_id", "media.size_bytes"])
    .executeTakeFirst();
  if (!row) return undefined;
  const { media_id: mediaId, size_bytes: size } = row;
  return {
    jobId: row.id,
    accountId,
    state: row.state,
    uploadId: row.upload_id ?? undefined,
    media: mediaId === null ? undefined : { id: mediaId, sizeBytes: Number(size) },
  };
}

/**
 * Starts the job that waits for an upload, if there is one: it becomes PROCESSING, with the turn of
 * a job that is submitted now, and with the name of the uploaded file.
 */
export async function startJobOf(
  trx: Transaction<Tables>,
  uploadId: string,
  mediaId: string,
): Promise<void> {
  await sql`
    update transcript_job job
    set state = 'PROCESSING', media_id = ${mediaId}, due_at = now(), updated_at = greatest(now(), updated_at),
      priority = greatest(${turnMin}::int, ${turnOf(sql`job.account_id`)}),
      metadata = case
        when upload.file_name = '' or metadata ?| array['originalUri', 'dictation', 'originalFilename'] then metadata
        else metadata || jsonb_build_object('originalFilename', upload.file_name) end
    from upload
    where upload.id = ${uploadId} and job.upload_id = upload.id and job.state = 'WAITING_FOR_CONTENT'
  `.execute(trx);
}

/** Deletes an upload that has no media, and the bytes that have arrived. */
export async function dropContent(
  parts: { readonly db: Kysely<Tables>; readonly store: MediaStore; readonly log: Log },
  uploadId: string,
): Promise<void> {
  const { db, store, log } = parts;
  await db.deleteFrom("upload").where("id", "=", uploadId).where("media_id", "is", null).execute();
  try {
    await store.partial.abort(uploadId);
  } catch (error) {
    // The sweep deletes partial media without an upload.
    log.warn({ uploadId, ...errorFields(error) }, "content.drop_failed");
  }
}

/** Finds the media of a transcript. Returns undefined if the account has none. */
export async function findRecording(
  db: Kysely<Tables>,
  accountId: string,
  transcriptId: string,
): Promise<{ readonly id: string; readonly sizeBytes: number } | undefined> {
  const row = await db
    .selectFrom("transcript")
    .innerJoin("media", "media.id", "transcript.media_id")
    .where("transcript.id", "=", transcriptId)
    .where("transcript.account_id", "=", accountId)
    .select(["media.id", "media.size_bytes"])
    .executeTakeFirst();
  return row && { id: row.id, sizeBytes: Number(row.size_bytes) };
}
