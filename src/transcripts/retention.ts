import { sql, type Kysely, type RawBuilder, type Transaction } from "kysely";
import { databaseTime } from "../database/database-time.ts";
import type { Tables } from "../database/tables.ts";
import { deleteBytes, releaseAll } from "../media/media-records.ts";
import type { MediaStore } from "../media/media-store.ts";
import type { Log } from "../std/log.ts";

export interface RetentionParts {
  readonly db: Kysely<Tables>;
  readonly store: MediaStore;
  readonly log: Log;
  readonly now?: () => number;
  readonly signal?: AbortSignal;
}

/**
 * The number of rows per transaction. It is small, so that other transactions do not wait long for
 * a lock.
 */
const batchRows = 200;
const dayMs = 86_400_000;
/** The advisory lock of a batch. One node deletes at a time, and the others skip the batch. */
const retentionLock = 4_750_413;

type Column = "media_retention_days" | "transcript_retention_days";

/** A kind of data with a retention time. */
interface Retained {
  readonly column: Column;
  /**
   * Deletes a batch of an account's rows that are older than a date. Returns the number of rows,
   * and the media whose bytes the caller must delete.
   */
  readonly forget: (
    trx: Transaction<Tables>,
    accountId: string,
    before: RawBuilder<Date>,
  ) => Promise<{ readonly count: number; readonly mediaIds: readonly string[] }>;
  /** The log event for a deletion. */
  readonly event: string;
}

const media: Retained = {
  column: "media_retention_days",
  forget: forgetMedia,
  event: "retention.media_deleted",
};
const transcripts: Retained = {
  column: "transcript_retention_days",
  forget: forgetTranscripts,
  event: "retention.transcripts_deleted",
};

const jobs: Retained = {
  column: "transcript_retention_days",
  forget: forgetJobs,
  event: "retention.jobs_deleted",
};

/**
 * Deletes data whose retention time is over. The retention time of media starts with the upload;
 * that of transcripts, with their versions and media, starts with the last change. Jobs that have
 * ended are deleted with their transcript; those without one as long after their end. Rows are
 * deleted before bytes, and sweepMedia() finds bytes that a kill leaves behind. Media of a
 * PROCESSING job stays until the job ends. This function is idempotent, even on several nodes
 * concurrently.
 */
export async function enforceRetention(parts: RetentionParts): Promise<void> {
  for (const retained of [media, transcripts, jobs]) {
    const accounts = await parts.db
      .selectFrom("account")
      .where(retained.column, "is not", null)
      .select(["id", retained.column])
      .execute();
    for (const account of accounts) {
      await forgetOld(parts, retained, { id: account.id, days: Number(account[retained.column]) });
    }
  }
}

async function forgetOld(
  parts: RetentionParts,
  { forget, event }: Retained,
  account: { readonly id: string; readonly days: number },
): Promise<void> {
  const { db, log, now, signal } = parts;
  const before = databaseTime(now, -account.days * dayMs);
  let total = 0;
  for (let isOver = false; !isOver;) {
    signal?.throwIfAborted();
    const done = await db.transaction().execute(async (trx) => {
      if (!(await isFirst(trx))) return undefined;
      return await forget(trx, account.id, before);
    });
    await deleteBytes(parts, done?.mediaIds ?? [], "retention");
    total += done?.count ?? 0;
    isOver = done === undefined || done.count === 0;
  }
  if (total > 0) log.info({ accountId: account.id, days: account.days, count: total }, event);
}

async function isFirst(trx: Transaction<Tables>): Promise<boolean> {
  const { rows } = await sql<{ taken: boolean }>`
    select pg_try_advisory_xact_lock(${retentionLock}) as taken
  `.execute(trx);
  return rows[0]?.taken === true;
}

/** Deletes media. The transcripts keep their words, and the length and kind of the recording. */
async function forgetMedia(trx: Transaction<Tables>, accountId: string, before: RawBuilder<Date>) {
  const { rows } = await sql<{ id: string }>`
    select id from media m
    where account_id = ${accountId} and created_at < ${before}
      and not exists (select from transcript_job where media_id = m.id and state = 'PROCESSING')
    order by created_at limit ${batchRows}
  `.execute(trx);
  const due = rows.map(({ id }) => id);
  if (due.length === 0) return { count: 0, mediaIds: [] };
  // Transcripts are updated first, since deleting them takes the locks in this order.
  await sql`
    update transcript t set media_id = null, recording_ms = m.duration_ms, recording_file_type = m.file_type
    from media m where m.id = t.media_id and t.media_id = any(${due}::uuid[])
  `.execute(trx);
  const mediaIds = await releaseAll(trx, due);
  return { count: mediaIds.length, mediaIds };
}

/** Deletes transcripts of the account, also those in its bin. */
async function forgetTranscripts(
  trx: Transaction<Tables>,
  accountId: string,
  before: RawBuilder<Date>,
) {
  const { rows } = await sql<{ media_id: string | null }>`
    delete from transcript where id in (
      select id from transcript
      where (account_id = ${accountId} or bin_account_id = ${accountId}) and updated_at < ${before}
      order by updated_at limit ${batchRows} for update skip locked)
    returning media_id
  `.execute(trx);
  const held = rows.flatMap(({ media_id: id }) => (id === null ? [] : [id]));
  return { count: rows.length, mediaIds: await releaseAll(trx, [...new Set(held)]) };
}

/** Deletes jobs that have ended and have no transcript, or none any more. */
async function forgetJobs(trx: Transaction<Tables>, accountId: string, before: RawBuilder<Date>) {
  // sweepJobs() releases the media first. The index has the start, which is before the last change.
  const { numAffectedRows = 0n } = await sql`
    delete from transcript_job where id in (
      select id from transcript_job j
      where account_id = ${accountId} and state in ('SUCCESS', 'ERROR', 'CANCELLED')
        and started_at < ${before} and updated_at < ${before} and media_id is null
        and not exists (select from transcript t where t.id in (j.transcript_id, j.new_version_of))
      limit ${batchRows} for update skip locked)
  `.execute(trx);
  return { count: Number(numAffectedRows), mediaIds: [] };
}
