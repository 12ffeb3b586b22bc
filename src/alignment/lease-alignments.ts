import { sql, type Kysely, type Transaction } from "kysely";
import {
  extendLease,
  isDue,
  isHeld,
  later,
  openIn,
  releaseLease,
  waitedMs,
  type Lease,
} from "../database/lease.ts";
import type { Tables } from "../database/tables.ts";
import type { StatusJson } from "../gen/google/rpc/status_pb.ts";

/** The duration of a lease. A worker extends its leases each second. */
export const leaseMs = 10_000;
/** The maximum duration of a lease, and the maximum delay before the next attempt. */
const waitMsMax = 60_000;

/** A job with all the data that a worker needs to process it. */
export interface LeasedAlignment {
  readonly lease: Lease;
  readonly accountId: string;
  readonly transcriptId: string;
  readonly versionId: string;
  /** The number of attempts that count, including this one. */
  readonly attempts: number;
  /** How long it could have been leased before it was. */
  readonly waitedMs: number;
  /** The place in a trace at which it was submitted; null for none. */
  readonly traceparent: string | null;
}

/** Sets the time of a change, which never decreases. */
const changed = sql`updated_at = greatest(now(), updated_at)`;

/**
 * Leases the next job by turn, which begins an attempt at it. Returns undefined if no job is due.
 * `passedOver`: the accounts with jobs that are not to be leased; `running`: the jobs that this
 * worker runs, with leases that may have expired while the database was unavailable.
 */
export async function leaseAlignment(
  db: Kysely<Tables>,
  next: { readonly passedOver: readonly string[]; readonly running: readonly string[] },
): Promise<LeasedAlignment | undefined> {
  const { rows } = await sql<{
    id: string;
    lease: number;
    account_id: string;
    transcript_id: string;
    version_id: string;
    tries: number;
    waited_ms: number;
    traceparent: string | null;
  }>`
    with next as (
      select id, due_at from alignment_job
      where ${openIn.alignment_job} and ${isDue(waitMsMax)}
        and account_id <> all (${[...next.passedOver]}::uuid[]) and id <> all (${[...next.running]}::uuid[])
      order by turn, id limit 1 for no key update skip locked)
    update alignment_job j
    set lease = j.lease + 1, tries = j.tries + 1, due_at = ${later(leaseMs)}, state = 'TRANSCODING', ${changed}
    from next where j.id = next.id
    returning j.id, j.lease, j.account_id, j.transcript_id, j.version_id, j.tries, j.traceparent,
      ${waitedMs} as waited_ms
  `.execute(db);
  const [row] = rows;
  return (
    row && {
      lease: { id: row.id, number: row.lease },
      accountId: row.account_id,
      transcriptId: row.transcript_id,
      versionId: row.version_id,
      attempts: row.tries,
      waitedMs: row.waited_ms,
      traceparent: row.traceparent,
    }
  );
}

/**
 * Extends a lease, and writes the progress if there is any. The stored progress never falls, and is
 * at most 99. Returns false if the lease is lost.
 */
export async function extendAlignment(
  db: Kysely<Tables>,
  lease: Lease,
  percent?: number,
): Promise<boolean> {
  const whole = Math.max(0, Math.min(99, Math.floor(percent ?? 0)));
  const progress =
    percent === undefined
      ? sql``
      : sql`, state = 'ALIGNING', progress_percent = greatest(progress_percent, ${whole}::int), ${changed}`;
  return await extendLease(db, "alignment_job", lease, { leaseMs, set: progress });
}

/** Returns the job to the queue, where it keeps its turn. Returns false if the lease is lost. */
export async function releaseAlignment(
  db: Kysely<Tables>,
  lease: Lease,
  { afterMs, isForgiven }: { readonly afterMs: number; readonly isForgiven: boolean },
): Promise<boolean> {
  const options = { afterMs: Math.min(afterMs, waitMsMax), isForgiven };
  const set = sql`, state = 'QUEUED', ${changed}`;
  return await releaseLease(db, "alignment_job", lease, { ...options, set });
}

/** Ends a job as SUCCESS with the version that it created. Returns false if the lease is lost. */
export async function succeedAlignment(
  trx: Transaction<Tables>,
  lease: Lease,
  createdVersionId: string,
): Promise<boolean> {
  const { numAffectedRows = 0n } = await sql`
    update alignment_job
    set state = 'SUCCESS', progress_percent = 100, created_version_id = ${createdVersionId}, ${changed}
    where ${isHeld("alignment_job", lease)}
  `.execute(trx);
  return numAffectedRows > 0n;
}

/** Ends a job as ERROR. Returns false if the lease is lost. */
export async function failAlignment(
  db: Kysely<Tables>,
  lease: Lease,
  error: StatusJson,
): Promise<boolean> {
  const { numAffectedRows = 0n } = await sql`
    update alignment_job set state = 'ERROR', error = ${JSON.stringify(error)}::jsonb, ${changed}
    where ${isHeld("alignment_job", lease)}
  `.execute(db);
  return numAffectedRows > 0n;
}
