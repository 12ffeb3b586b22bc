import { sql, type Kysely, type RawBuilder } from "kysely";
import type { Tables } from "./tables.ts";

/**
 * A worker's lease of a row: a job, an alignment job, a media description, a webhook delivery or a
 * mail. It ends with the work, with its release, or when another worker leases the row, which is
 * possible from `due_at` on.
 */
export interface Lease {
  readonly id: string;
  /**
   * A number that increases with each lease and each release of the row. Every write specifies it,
   * so that a worker whose lease has ended changes nothing.
   */
  readonly number: number;
}

/**
 * The maximum number of attempts at a job or a media description. An attempt counts whether it
 * fails or its worker dies. Webhook deliveries and mail are attempted for a day instead.
 */
export const attemptsMax = 3;

/**
 * Another worker has the lease, or the work has ended. Anything that this worker still writes is
 * ignored.
 */
export class LeaseLost extends Error {
  override readonly name = "LeaseLost";
}

/**
 * The tables whose rows are leased. The columns `lease`, `tries` and `due_at` have the same meaning
 * in each table.
 */
export type LeasedTable =
  | "transcript_job"
  | "alignment_job"
  | "media_description"
  | "webhook_delivery"
  | "invitation_mail";

const keyOf = {
  transcript_job: "id",
  alignment_job: "id",
  media_description: "media_id",
  webhook_delivery: "id",
  invitation_mail: "id",
};

/** The conditions that select the rows with work still to do. */
export const openIn: Readonly<Record<LeasedTable, RawBuilder<boolean>>> = {
  transcript_job: sql`state = 'PROCESSING'`,
  alignment_job: sql`state in ('QUEUED', 'TRANSCODING', 'ALIGNING')`,
  media_description: sql`true`,
  webhook_delivery: sql`state = 'PENDING'`,
  invitation_mail: sql`state = 'PENDING'`,
};

/** Returns a time relative to now, by the clock of the database, which all nodes share. */
export function later(ms: number): RawBuilder<Date> {
  return sql<Date>`now() + ${ms} * interval '1 millisecond'`;
}

/**
 * Whether a row may be leased. `waitMsMax` is the longest lease or delay of the table. A row with a
 * later due time was written before the clock of the database was set back, and is due now.
 */
export function isDue(waitMsMax: number): RawBuilder<boolean> {
  return sql<boolean>`(due_at <= now() or due_at > ${later(waitMsMax)})`;
}

/** How long a row of the query `next` could have been leased before, in milliseconds. */
export const waitedMs = sql<number>`(extract(epoch from now() - next.due_at) * 1000)::float8`;

/**
 * Extends the lease; returns false if the lease is lost. `set`: columns that are written together
 * with the extension.
 */
export async function extendLease(
  db: Kysely<Tables>,
  table: LeasedTable,
  lease: Lease,
  { leaseMs, set = sql`` }: { readonly leaseMs: number; readonly set?: RawBuilder<unknown> },
): Promise<boolean> {
  const { numAffectedRows = 0n } = await sql`
    update ${sql.table(table)} set due_at = ${later(leaseMs)} ${set} where ${isHeld(table, lease)}
  `.execute(db);
  return numAffectedRows > 0n;
}

/**
 * Ends the lease, so that any worker may lease the row after `afterMs`. `isForgiven`: the attempt
 * does not count. Returns false if the lease is lost. Repeating the write after a lost response
 * changes nothing.
 */
export async function releaseLease(
  db: Kysely<Tables>,
  table: LeasedTable,
  lease: Lease,
  options: {
    readonly afterMs: number;
    readonly isForgiven: boolean;
    readonly set?: RawBuilder<unknown>;
  },
): Promise<boolean> {
  const { afterMs, isForgiven, set = sql`` } = options;
  const { numAffectedRows = 0n } = await sql`
    update ${sql.table(table)}
    set lease = lease + 1, due_at = ${later(afterMs)},
      tries = greatest(tries - ${isForgiven}::boolean::int, 0) ${set}
    where ${isHeld(table, lease)}
  `.execute(db);
  return numAffectedRows > 0n;
}

/** The condition that selects the row while the lease is held. */
export function isHeld(table: LeasedTable, { id, number }: Lease): RawBuilder<boolean> {
  return sql<boolean>`${sql.ref(keyOf[table])} = ${id} and lease = ${number} and ${openIn[table]}`;
}
