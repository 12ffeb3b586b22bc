import { sql, type Kysely, type Transaction } from "kysely";
import type { Tables } from "../database/tables.ts";
import { errorFields, type Log } from "../std/log.ts";
import type { MediaStore, StoredMedia } from "./media-store.ts";

/** A recording that the database knows: its bytes are durable. */
export interface Media extends StoredMedia {
  readonly id: string;
}

/** Path of a transcript's media under the public address; GET works with a signature. */
export function mediaPath(mediaId: string): string {
  return `/media/${mediaId}`;
}

/** Path of the waveform of media under the public address; GET works with a signature. */
export function waveformPath(mediaId: string): string {
  return `/media/waveforms/${mediaId}`;
}

/** Records media whose bytes are in the store already. Once more, it is the same: somebody has not heard the answer. */
export async function insertMedia(
  trx: Transaction<Tables>,
  media: Media & { readonly accountId: string },
): Promise<void> {
  await trx
    .insertInto("media")
    .values({
      id: media.id,
      account_id: media.accountId,
      size_bytes: media.sizeBytes,
      sha256: media.sha256,
      content_type: media.contentType,
    })
    .onConflict((conflict) => conflict.column("id").doNothing())
    .execute();
}

/** undefined when it is gone. */
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
 * Forgets media that a transcript has let go of, with the uploads that brought it, unless another transcript or a job that is still
 * PROCESSING holds it. Whether it is forgotten: then its bytes are to be deleted once the transaction is through.
 */
export async function releaseMedia(trx: Transaction<Tables>, mediaId: string): Promise<boolean> {
  return (await releaseAll(trx, [mediaId])).length > 0;
}

/** releaseMedia() of many. Those that are forgotten. */
export async function releaseAll(
  trx: Transaction<Tables>,
  mediaIds: readonly string[],
): Promise<string[]> {
  // Whoever wants to refer to the media from now on waits for this lock, and then finds it gone.
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

/** Deletes the bytes of forgotten media; what fails is left to removeUnrecordedMedia(). */
export async function deleteBytes(
  parts: { readonly store: MediaStore; readonly log: Log },
  mediaId: string,
): Promise<void> {
  try {
    await parts.store.delete(mediaId);
  } catch (error) {
    parts.log.error({ mediaId, ...errorFields(error) }, "media.delete_failed");
  }
}

/** Between its last byte and its row, media is unrecorded but not lost: for at most this long. A later sweep still ends within the hour. */
const recordedWithinMs = 45 * 60_000;

/** What of these ids no row is of. */
export async function unrecordedOf(
  db: Kysely<Tables>,
  mediaIds: readonly string[],
): Promise<string[]> {
  if (mediaIds.length === 0) return [];
  const rows = await db.selectFrom("media").where("id", "in", mediaIds).select("id").execute();
  const recorded = new Set(rows.map(({ id }) => id));
  return mediaIds.filter((id) => !recorded.has(id));
}

/** Ids that are looked up in one statement: a statement for each would take a large archive minutes, at every node. */
const lookedUpAtOnce = 1_000;

/** Deletes the bytes that a kill left without a row, before the row was written or after it was deleted. How many media. */
export async function removeUnrecordedMedia(parts: {
  readonly db: Kysely<Tables>;
  readonly store: MediaStore;
  readonly log: Log;
  readonly now?: () => number;
  readonly signal?: AbortSignal;
}): Promise<number> {
  const { db, store, log, now = Date.now, signal } = parts;
  let count = 0;
  const remove = async (ids: readonly string[]): Promise<void> => {
    for (const id of await unrecordedOf(db, ids)) {
      signal?.throwIfAborted();
      await store.delete(id);
      count += 1;
      log.info({ mediaId: id }, "media.unrecorded_removed");
    }
  };
  let page: string[] = [];
  for await (const { id, putAt } of store.list()) {
    signal?.throwIfAborted();
    if (putAt.getTime() > now() - recordedWithinMs) continue;
    page.push(id);
    if (page.length < lookedUpAtOnce) continue;
    await remove(page);
    page = [];
  }
  await remove(page);
  return count;
}
