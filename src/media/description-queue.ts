import { sql, type Kysely, type Transaction } from "kysely";
import type { Tables } from "../database/tables.ts";

/**
 * A worker's claim on media that it describes, until it ends, is given back or is not extended for
 * leaseMs.
 */
export interface DescriptionLease {
  readonly mediaId: string;
  /** 1 for the first lease of media, higher for each later one. */
  readonly number: number;
  /** This one included. */
  readonly tries: number;
}

/** What a worker has not extended for this long, another one takes. */
const leaseMs = 10_000;

/** Has media described, in the commit that records it or wants its facts anew. */
export async function askForDescription(trx: Transaction<Tables>, mediaId: string): Promise<void> {
  await trx
    .insertInto("media_description")
    .values({ media_id: mediaId })
    .onConflict((conflict) => conflict.column("media_id").doUpdateSet({ tries: 0 }))
    .execute();
}

/** Takes what has waited longest, or was let go of; undefined when nothing waits. */
export async function leaseDescription(db: Kysely<Tables>): Promise<DescriptionLease | undefined> {
  const { rows } = await sql<{ media_id: string; lease: number; tries: number }>`
    update media_description
    set lease = lease + 1, tries = tries + 1, due_at = ${later(leaseMs)}
    where media_id = (
      select media_id from media_description where due_at <= now()
      order by due_at limit 1 for update skip locked)
    returning media_id, lease, tries
  `.execute(db);
  const [row] = rows;
  return row && { mediaId: row.media_id, number: row.lease, tries: row.tries };
}

/** false: the lease is lost, or the media gone. */
export async function extendLease(db: Kysely<Tables>, lease: DescriptionLease): Promise<boolean> {
  return await setDue(db, lease, leaseMs, lease.tries);
}

/** Lets any worker have it after a while; with `isForgiven` the try does not count. */
export async function releaseLease(
  db: Kysely<Tables>,
  lease: DescriptionLease,
  { afterMs, isForgiven }: { readonly afterMs: number; readonly isForgiven: boolean },
): Promise<boolean> {
  return await setDue(db, lease, afterMs, isForgiven ? lease.tries - 1 : lease.tries);
}

async function setDue(
  db: Kysely<Tables>,
  { mediaId, number }: DescriptionLease,
  afterMs: number,
  tries: number,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable("media_description")
    .set({ due_at: later(afterMs), tries })
    .where("media_id", "=", mediaId)
    .where("lease", "=", number)
    .executeTakeFirstOrThrow();
  return numUpdatedRows > 0n;
}

/** Takes media out of the queue; false: the lease is lost, or the media gone. */
export async function endLease(
  trx: Transaction<Tables>,
  { mediaId, number }: DescriptionLease,
): Promise<boolean> {
  // The media first: that is the order in which its deletion takes the locks.
  await trx.selectFrom("media").where("id", "=", mediaId).select("id").forUpdate().execute();
  const { numDeletedRows } = await trx
    .deleteFrom("media_description")
    .where("media_id", "=", mediaId)
    .where("lease", "=", number)
    .executeTakeFirstOrThrow();
  return numDeletedRows > 0n;
}

/** By the clock of the database, which all nodes share. */
function later(ms: number) {
  return sql<Date>`now() + ${ms} * interval '1 millisecond'`;
}
