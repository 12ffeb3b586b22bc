import { sql, type Kysely, type RawBuilder } from "kysely";
import { databaseTime } from "../database/database-time.ts";
import type { Tables } from "../database/tables.ts";
import type { Log } from "../std/log.ts";
import { deleteBytes, releaseAll } from "./media-records.ts";
import type { MediaStore } from "./media-store.ts";

interface UnusedUploadsParts {
  readonly db: Kysely<Tables>;
  readonly store: MediaStore;
  readonly log: Log;
  readonly now?: () => number;
  readonly signal?: AbortSignal;
}

/**
 * How long media that was uploaded for a job is kept without a job. An upload without media is kept
 * for the same time after its URL expires, in case a PUT is slow.
 */
export const unusedMsMax = 24 * 3_600_000;
/** The number of rows per transaction. */
const batchRows = 200;

/**
 * Deletes media of uploads/<id> that neither a transcript nor a job has used for a day, and uploads
 * without a PUT whose URL expired a day ago. Idempotent, even when run concurrently on several
 * nodes.
 */
export async function removeUnusedUploads(parts: UnusedUploadsParts): Promise<void> {
  const { log, now, signal } = parts;
  const before = databaseTime(now, -unusedMsMax);
  for (const [remove, event] of [
    [removePlaces, "upload.expired_removed"],
    [removeMedia, "upload.unused_removed"],
  ] as const) {
    let total = 0;
    for (let count = -1; count !== 0; total += count) {
      signal?.throwIfAborted();
      count = await remove(parts, before);
    }
    if (total > 0) log.info({ count: total }, event);
  }
}

async function removePlaces({ db }: UnusedUploadsParts, before: RawBuilder<Date>): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    delete from upload where id in (
      select id from upload where media_id is null and expires_at < ${before}
      limit ${batchRows} for update skip locked)
  `.execute(db);
  return Number(numAffectedRows);
}

async function removeMedia(parts: UnusedUploadsParts, before: RawBuilder<Date>): Promise<number> {
  const removed = await parts.db.transaction().execute(async (trx) => {
    const { rows } = await sql<{ id: string }>`
      select m.id from upload u join media m on m.id = u.media_id
      where u.transcript_id is null and m.created_at < ${before}
        and not exists (select from transcript where media_id = m.id)
        and not exists (select from transcript_job
          where upload_id = u.id and (state = 'PROCESSING' or updated_at >= ${before}))
      limit ${batchRows} for update of m skip locked
    `.execute(trx);
    return await releaseAll(
      trx,
      rows.map(({ id }) => id),
    );
  });
  await deleteBytes(parts, removed, "upload_unused");
  return removed.length;
}
