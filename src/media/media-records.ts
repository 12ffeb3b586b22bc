import { sql, type Kysely, type Transaction } from "kysely";
import type { Tables } from "../database/tables.ts";
import { errorFields, type Log } from "../std/log.ts";
import type { MediaStore, StoredMedia } from "./media-store.ts";

/** A recording in the database. Its bytes are durable. */
export interface Media extends StoredMedia {
  readonly id: string;
}

/** Returns the path of media under the public address. GET requires a signature. */
export function mediaPath(mediaId: string): string {
  return `/media/${mediaId}`;
}

/**
 * Returns the path of the waveform of media under the public address. GET requires a signature.
 */
export function waveformPath(mediaId: string): string {
  return `/media/waveforms/${mediaId}`;
}

/** The paths of the exported files of transcripts. GET requires a signature. */
export const exportsPath = "/media/exports/";

/** Records stored media. Idempotent, because a confirmation may be lost. */
export async function insertMedia(
  trx: Transaction<Tables>,
  media: Media & {
    readonly accountId: string;
    /** The name of the file that was uploaded to a transcript. Default: "", unknown. */
    readonly fileName?: string;
  },
): Promise<void> {
  await trx
    .insertInto("media")
    .values({
      id: media.id,
      account_id: media.accountId,
      size_bytes: media.sizeBytes,
      sha256: media.sha256,
      content_type: media.contentType,
      file_name: media.fileName ?? "",
    })
    .onConflict((conflict) => conflict.column("id").doNothing())
    .execute();
}

/** Finds the record of media. Returns undefined if it was deleted. */
export async function findMedia(db: Kysely<Tables>, id: string): Promise<Media | undefined> {
  const row = await db
    .selectFrom("media")
    .where("id", "=", id)
    .select(["id", "size_bytes", "sha256", "content_type"])
    .executeTakeFirst();
  return (
    row && {
      id: row.id,
      sizeBytes: Number(row.size_bytes),
      sha256: row.sha256,
      contentType: row.content_type,
    }
  );
}

/**
 * Deletes the record of media that a transcript no longer uses, with its uploads, unless another
 * transcript or a PROCESSING job refers to it. Returns whether the record was deleted. If so, the
 * caller deletes the bytes after the commit.
 */
export async function releaseMedia(trx: Transaction<Tables>, mediaId: string): Promise<boolean> {
  return (await releaseAll(trx, [mediaId])).length > 0;
}

/** Runs releaseMedia() for several ids. Returns the ids whose records were deleted. */
export async function releaseAll(
  trx: Transaction<Tables>,
  mediaIds: readonly string[],
): Promise<string[]> {
  // Transactions that add a reference wait for this lock, and then find that the media was deleted.
  const locked = trx.selectFrom("media").where("id", "in", mediaIds).select("id");
  if (mediaIds.length > 0) await locked.orderBy("id").forUpdate().execute();
  const { rows } = await sql<{ id: string }>`
    select m.id from unnest(${mediaIds}::uuid[]) as m (id)
    where not exists (select from transcript where media_id = m.id)
      and not exists (select from transcript_job where media_id = m.id and state = 'PROCESSING')
  `.execute(trx);
  const free = rows.map(({ id }) => id);
  if (free.length === 0) return free;
  await trx
    .updateTable("transcript_job")
    .set({ media_id: null })
    .where("media_id", "in", free)
    .execute();
  await trx.deleteFrom("upload").where("media_id", "in", free).execute();
  await trx.deleteFrom("media").where("id", "in", free).execute();
  return free;
}

/** The reason for a deletion, for the log. */
export type DeletionReason =
  | "account_deleted"
  | "job_ended"
  | "job_not_taken"
  | "media_replaced"
  | "retention"
  | "bin_emptied"
  | "transcript_deleted"
  | "upload_deleted"
  | "upload_not_taken"
  | "upload_unused";

/**
 * Deletes the bytes of media whose records were just deleted, and logs the number of deletions.
 * Failures are left to sweepMedia(). Unrecorded media must not be passed: it is set aside instead.
 */
export async function deleteBytes(
  parts: { readonly store: Pick<MediaStore, "delete" | "keepsAll">; readonly log: Log },
  mediaIds: readonly string[],
  why: DeletionReason,
): Promise<void> {
  let count = 0;
  for (const mediaId of mediaIds) {
    try {
      await parts.store.delete(mediaId);
      count += 1;
    } catch (error) {
      parts.log.error({ mediaId, ...errorFields(error) }, "media.delete_failed");
    }
  }
  const one = mediaIds.length === 1 ? { mediaId: mediaIds[0] } : {};
  const event = parts.store.keepsAll ? "media.bytes_kept" : "media.bytes_deleted";
  if (count > 0) parts.log.info({ why, count, ...one }, event);
}

/** Returns the ids of partial media that no upload waits for. */
export async function abandonedOf(
  db: Kysely<Tables>,
  ids: readonly string[],
): Promise<readonly string[]> {
  const { rows } = await sql<{ id: string }>`
    select id from unnest(${ids}::uuid[]) as partial (id)
    where not exists (select from upload where upload.id = partial.id and media_id is null)
  `.execute(db);
  return rows.map(({ id }) => id);
}

/** Returns the ids that have no record. */
export async function unrecordedOf(
  db: Kysely<Tables>,
  mediaIds: readonly string[],
): Promise<string[]> {
  if (mediaIds.length === 0) return [];
  const rows = await db.selectFrom("media").where("id", "in", mediaIds).select("id").execute();
  const recorded = new Set(rows.map(({ id }) => id));
  return mediaIds.filter((id) => !recorded.has(id));
}
