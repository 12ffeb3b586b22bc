import { sql, type Kysely, type RawBuilder, type Transaction } from "kysely";
import { exactTime } from "../database/exact-time.ts";
import { openIn } from "../database/lease.ts";
import type { Tables } from "../database/tables.ts";
import { cancelledStatus } from "../jobs/job-failure.ts";
import type { ListPosition, PageRequest } from "../std/page-request.ts";
import { jsonText } from "../transcripts/metadata-text.ts";
import type { AlignmentFilter } from "./alignment-filter.ts";
import type { TranscriptRef } from "./alignment-names.ts";
import type { StoredAlignment } from "./stored-alignment.ts";

/** A job that is being submitted. */
export interface NewAlignment {
  readonly id: string;
  readonly accountId: string;
  /** The key that submits the job; null if a member submits it. */
  readonly keyId: string | null;
  readonly transcriptId: string;
  readonly versionId: string;
  /** The place in a trace at which it is submitted; undefined without tracing. */
  readonly traceparent: string | undefined;
}

const columns = [
  "id",
  "account_id as accountId",
  "transcript_id as transcriptId",
  "version_id as versionId",
  "state",
  "progress_percent as progressPercent",
  "created_version_id as createdVersionId",
  "started_at as startedAt",
  "updated_at as updatedAt",
] as const;

function selectJobs(db: Kysely<Tables>, accountId: string) {
  return db
    .selectFrom("alignment_job")
    .where("account_id", "=", accountId)
    .select([...columns, jsonText("error").as("error")]);
}

/**
 * Inserts a job with its turn among the waiting jobs, and returns it. Turns are fair between
 * accounts, as those of other jobs: a job comes after the other jobs of its account, but never
 * before the place that the queue currently serves. lockJobCounts() must have locked the account.
 */
export async function insertAlignment(
  trx: Transaction<Tables>,
  job: NewAlignment,
): Promise<StoredAlignment> {
  const { id, accountId, keyId, transcriptId, versionId, traceparent = null } = job;
  await sql`
    insert into alignment_job (id, account_id, key_id, transcript_id, version_id, traceparent, turn)
    select ${id}, ${accountId}, ${keyId}, ${transcriptId}, ${versionId}, ${traceparent}::text, greatest(
        (select min(turn) from alignment_job where ${openIn.alignment_job}),
        (select max(turn) + 1 from alignment_job
          where account_id = ${accountId} and ${openIn.alignment_job}),
        0)
  `.execute(trx);
  return await selectJobs(trx, accountId).where("id", "=", id).executeTakeFirstOrThrow();
}

/** Returns the job; undefined if the account has no such job. */
export async function findAlignment(
  db: Kysely<Tables>,
  accountId: string,
  id: string,
): Promise<StoredAlignment | undefined> {
  return await selectJobs(db, accountId).where("id", "=", id).executeTakeFirst();
}

/** Returns the latest job of a transcript, or of one of its versions. */
export async function findLatestAlignment(
  db: Kysely<Tables>,
  accountId: string,
  transcript: TranscriptRef,
): Promise<StoredAlignment | undefined> {
  return await selectJobs(db, accountId)
    .where(conditionOf({ transcript }))
    .orderBy("started_at", "desc")
    .orderBy("id", "desc")
    .executeTakeFirst();
}

/** Returns the job of this version that has not ended; undefined if there is none. */
export async function findOpenAlignment(
  trx: Transaction<Tables>,
  accountId: string,
  transcript: TranscriptRef,
): Promise<StoredAlignment | undefined> {
  return await selectJobs(trx, accountId)
    .where(conditionOf({ transcript }))
    .where(openIn.alignment_job)
    .executeTakeFirst();
}

/** Returns one page of an account's jobs, newest first. */
export async function listAlignments(
  db: Kysely<Tables>,
  { accountId, filter }: { readonly accountId: string; readonly filter: AlignmentFilter },
  { after, size }: PageRequest,
): Promise<{ jobs: StoredAlignment[]; next: ListPosition | undefined }> {
  let query = selectJobs(db, accountId)
    .where(conditionOf(filter))
    .select(exactTime("started_at").as("position"))
    .orderBy("started_at", "desc")
    .orderBy("id", "desc")
    // One row more than requested shows whether there is another page.
    .limit(size + 1);
  if (after) {
    const [time, id] = after;
    query = query.where(sql<boolean>`(started_at, id) < (${time}::timestamptz, ${id}::uuid)`);
  }
  const rows = await query.execute();
  const jobs = rows.slice(0, size);
  const last = rows.length > size ? jobs.at(-1) : undefined;
  return { jobs, next: last && [last.position, last.id] };
}

/** Returns the jobs of these accounts that have changed within the last `ms`. */
export async function findChangedAlignments(
  db: Kysely<Tables>,
  accountIds: readonly string[],
  ms: number,
): Promise<StoredAlignment[]> {
  return await db
    .selectFrom("alignment_job")
    .where("account_id", "in", accountIds)
    .where(sql<boolean>`updated_at > now() - ${ms} * interval '1 millisecond'`)
    .select([...columns, jsonText("error").as("error")])
    .orderBy("updated_at")
    .orderBy("id")
    .execute();
}

/** Ends a job as cancelled. Returns false if the account has no such job that has not ended. */
export async function cancelAlignment(
  db: Kysely<Tables>,
  accountId: string,
  id: string,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable("alignment_job")
    .set({
      state: "CANCELLED",
      error: JSON.stringify(cancelledStatus),
      updated_at: sql<Date>`greatest(now(), updated_at)`,
    })
    .where("account_id", "=", accountId)
    .where("id", "=", id)
    .where(openIn.alignment_job)
    .executeTakeFirstOrThrow();
  return numUpdatedRows > 0n;
}

function conditionOf({ state, transcript }: AlignmentFilter): RawBuilder<boolean> {
  const conditions = [sql`true`];
  if (state !== undefined) conditions.push(sql`state = ${state}`);
  if (transcript) conditions.push(sql`transcript_id = ${transcript.transcriptId}`);
  if (transcript?.versionId !== undefined) {
    conditions.push(sql`version_id = ${transcript.versionId}`);
  }
  return sql<boolean>`${sql.join(conditions, sql` and `)}`;
}
