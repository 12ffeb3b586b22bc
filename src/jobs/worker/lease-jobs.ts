import { sql, type Kysely, type RawBuilder, type Transaction } from "kysely";
import {
  attemptsMax,
  extendLease,
  isDue,
  isHeld,
  later,
  LeaseLost,
  releaseLease,
  waitedMs,
  type Lease,
} from "../../database/lease.ts";
import type { Tables } from "../../database/tables.ts";
import type { Hint } from "../../engines/protocol/engine.ts";
import type { WritingChoice } from "../../writing/write-words.ts";

/** The duration of a lease. A worker extends its leases each second. */
export const leaseMs = 10_000;
/** The maximum duration of a lease, and the maximum delay before the next attempt. */
export const waitMsMax = 60_000;

/** A job with all the data that a worker needs to process it. */
export interface LeasedJob {
  readonly lease: Lease;
  readonly accountId: string;
  /** The key that submitted it. */
  readonly keyId: string | null;
  /** The metadata as it is stored. metadataOf() parses it, and throws if it cannot be read. */
  readonly metadataText: string;
  readonly uri: string | null;
  readonly mediaId: string | null;
  /** The id that the transcript must have; null for any. */
  readonly contentTranscriptId: string | null;
  /** The transcript that gets a new version; null if the job makes a transcript. */
  readonly newVersionOf: string | null;
  /** The hints for its recognition. */
  readonly hints: readonly Hint[];
  /** Whether it ignores the vocabulary of the account. */
  readonly ignoresVocabulary: boolean;
  /** How its text is written; null for the words as they are. */
  readonly writing: WritingChoice | null;
  /** The model that recognizes the media; null for the one that serves the language. */
  readonly model: string | null;
  /** The maximum number of speakers; 0: none are distinguished; null: any number. */
  readonly speakersMax: number | null;
  /** The number of attempts that count, including this one. */
  readonly attempts: number;
  /** How long it could have been leased before it was. */
  readonly waitedMs: number;
  /** The place in a trace at which it was submitted; null for none. */
  readonly traceparent: string | null;
}

/** Returns whether a worker must at first run the job alone; see countLastAttempt(). */
export function isLastAttempt({ attempts }: LeasedJob): boolean {
  return attempts === attemptsMax;
}

export interface NextJobs {
  /** The accounts with jobs that are not to be leased. */
  readonly passedOver: readonly string[];
  readonly countMax: number;
  /**
   * The jobs that the worker runs. After the database was unavailable, or its clock has jumped,
   * their leases may have expired before the worker could extend them. The worker does not lease
   * these jobs again.
   */
  readonly running?: readonly string[];
}

/**
 * Leases the next jobs by turn. This begins an attempt at each job, which counts from then on. The
 * last attempt counts only from countLastAttempt().
 */
export async function leaseJobs(db: Kysely<Tables>, next: NextJobs): Promise<LeasedJob[]> {
  const isFree = sql<boolean>`${isDue(waitMsMax)} and id <> all (${[...(next.running ?? [])]}::uuid[])`;
  if (next.passedOver.length === 0) return await leaseWhere(db, isFree, next.countMax);
  // The first search usually suffices: jobs of other accounts are among the next ones, unless an
  // account that is passed over has very many jobs that were leased before.
  for (const candidates of [firstCandidates, candidatesOfAccounts]) {
    const ids = sql`array(${candidates(isFree, next)})`;
    const jobs = await leaseWhere(db, sql`${isFree} and id = any (${ids})`, next.countMax);
    if (jobs.length > 0) return jobs;
  }
  return [];
}

async function leaseWhere(
  db: Kysely<Tables>,
  condition: RawBuilder<unknown>,
  countMax: number,
): Promise<LeasedJob[]> {
  // A lease does not change the columns of any index, so that most updates stay within a page
  // (HOT).
  const { rows } = await sql<LeasedRow>`
    with next as (
      select id, tries, due_at from transcript_job where state = 'PROCESSING' and ${condition}
      order by priority desc, id limit ${countMax}::int
      for no key update skip locked)
    update transcript_job j
    set lease = j.lease + 1, due_at = ${later(leaseMs)},
      tries = next.tries + (next.tries <> ${attemptsMax - 1}::int)::int
    from next where j.id = next.id
    returning j.id, j.lease, j.account_id, j.key_id, j.media_uri, j.media_id, j.content_transcript_id, j.new_version_of,
      j.metadata::text as metadata, j.hints, j.ignores_vocabulary, j.writing, j.model, j.speakers_max, j.traceparent,
      next.tries + 1 as attempts, ${waitedMs} as waited_ms
  `.execute(db);
  return rows.map((row) => ({
    lease: { id: row.id, number: row.lease },
    accountId: row.account_id,
    keyId: row.key_id,
    metadataText: row.metadata,
    uri: row.media_uri,
    mediaId: row.media_id,
    contentTranscriptId: row.content_transcript_id,
    newVersionOf: row.new_version_of,
    hints: row.hints ?? [],
    ignoresVocabulary: row.ignores_vocabulary,
    writing: row.writing,
    model: row.model,
    speakersMax: row.speakers_max,
    attempts: row.attempts,
    waitedMs: row.waited_ms,
    traceparent: row.traceparent,
  }));
}

/** The number of next jobs that are searched for jobs of other accounts. */
const searchedMax = 1_000;
/**
 * The number of candidates in addition to those that a worker leases, since others may lease some
 * concurrently.
 */
const candidatesSpare = 32;

type Candidates = (isFree: RawBuilder<boolean>, next: NextJobs) => RawBuilder<unknown>;

/** Selects the ids of the first jobs of other accounts among the next ones. */
const firstCandidates: Candidates = (isFree, { passedOver, countMax }) => sql`
  select id from (
    select id, account_id, due_at from transcript_job where state = 'PROCESSING'
    order by priority desc, id limit ${searchedMax}::int) as next
  where ${isFree} and account_id <> all (${[...passedOver]}::uuid[])
  limit ${countMax + candidatesSpare}::int`;

/**
 * Selects the same ids from all jobs. The query visits the other accounts, but not the jobs of
 * accounts that are passed over, which may be a hundred thousand.
 */
const candidatesOfAccounts: Candidates = (isFree, { passedOver, countMax }) => sql`
  with recursive waiting (account_id) as (
    (select account_id from transcript_job where state = 'PROCESSING' order by account_id limit 1)
    union all
    select (select job.account_id from transcript_job job
      where state = 'PROCESSING' and job.account_id > waiting.account_id
      order by job.account_id limit 1)
    from waiting where waiting.account_id is not null)
  select job.id from waiting cross join lateral (
    select id, priority from transcript_job
    where account_id = waiting.account_id and state = 'PROCESSING' and ${isFree}
    order by priority desc, id limit ${countMax}::int) job
  where waiting.account_id <> all (${[...passedOver]}::uuid[])
  order by job.priority desc, job.id limit ${countMax + candidatesSpare}::int`;

interface LeasedRow {
  readonly id: string;
  readonly lease: number;
  readonly account_id: string;
  readonly key_id: string | null;
  readonly media_uri: string | null;
  readonly media_id: string | null;
  readonly content_transcript_id: string | null;
  readonly new_version_of: string | null;
  readonly metadata: string;
  readonly hints: readonly Hint[] | null;
  readonly ignores_vocabulary: boolean;
  readonly writing: WritingChoice | null;
  readonly model: string | null;
  readonly speakers_max: number | null;
  readonly attempts: number;
  readonly waited_ms: number;
  readonly traceparent: string | null;
}

/**
 * Counts the last attempt at a job, once no other job runs on its worker. Otherwise the job could
 * end because of another job's effect on the worker. Returns the number of attempts that count:
 * fewer than expected if an earlier one has been subtracted since the lease. Throws LeaseLost if
 * the lease is lost.
 */
export async function countLastAttempt(db: Kysely<Tables>, lease: Lease): Promise<number> {
  // If the statement is repeated after a lost response, the count is at most attemptsMax.
  const { rows } = await sql<{ tries: number }>`
    update transcript_job set tries = least(tries + 1, ${attemptsMax}::int)
    where ${isHeld("transcript_job", lease)} returning tries
  `.execute(db);
  const [row] = rows;
  if (!row) throw new LeaseLost();
  return row.tries;
}

/**
 * Extends a lease, and writes the progress if there is any, with the model that is used. The stored
 * progress never falls, and is at most 99.
 */
export async function extendJob(
  db: Kysely<Tables>,
  lease: Lease,
  percent?: number,
  model?: string,
): Promise<boolean> {
  const whole = Math.max(0, Math.min(99, Math.floor(percent ?? 0)));
  const progress =
    percent === undefined
      ? sql``
      : sql`, progress_percent = greatest(progress_percent, ${whole}::int), updated_at = greatest(now(), updated_at),
          used_model = coalesce(${model ?? null}::text, used_model)`;
  return await extendLease(db, "transcript_job", lease, { leaseMs, set: progress });
}

/** Returns the job to the queue, where it keeps its turn. Returns false if the lease is lost. */
export async function releaseJob(
  db: Kysely<Tables>,
  lease: Lease,
  { afterMs = 0, isForgiven }: { readonly afterMs?: number; readonly isForgiven: boolean },
): Promise<boolean> {
  const options = { afterMs: Math.min(afterMs, waitMsMax), isForgiven };
  return await releaseLease(db, "transcript_job", lease, options);
}

/** Subtracts an attempt with a lease that was lost for reasons unrelated to the job. */
export async function takeAttemptBack(db: Kysely<Tables>, jobId: string): Promise<void> {
  await db
    .updateTable("transcript_job")
    .set({ tries: sql<number>`greatest(tries - 1, 0)` })
    .where("id", "=", jobId)
    .where("state", "=", "PROCESSING")
    .execute();
}

/**
 * Resets the count of attempts to this one, since the job got past the piece at which its worker
 * died. The count is reset only once per job, so that a job that crashes every worker ends
 * eventually.
 */
export async function resetAttempts(db: Kysely<Tables>, lease: Lease): Promise<void> {
  await sql`
    update transcript_job set tries = 1, is_cleared = true
    where ${isHeld("transcript_job", lease)} and not is_cleared
  `.execute(db);
}

/** Records the media that was fetched. Returns false if the lease is lost. */
export async function setMedia(
  trx: Transaction<Tables>,
  lease: Lease,
  mediaId: string,
): Promise<boolean> {
  const { numAffectedRows = 0n } = await sql`
    update transcript_job set media_id = ${mediaId} where ${isHeld("transcript_job", lease)}
  `.execute(trx);
  return numAffectedRows > 0n;
}
