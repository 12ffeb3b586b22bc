import { sql, type Kysely, type Transaction } from "kysely";
import { extendLease, isDue, isHeld, later, releaseLease, type Lease } from "../database/lease.ts";
import type { Tables } from "../database/tables.ts";

/** A worker's lease on media that it is describing. */
export interface DescriptionLease extends Lease {
  /** The number of attempts that count, including this one. */
  readonly attempts: number;
}

/** How long a lease lasts without being extended. */
const leaseMs = 10_000;
/** The longest lease or delay. */
const waitMsMax = 60_000;

/**
 * Queues media for description, in the transaction that records the media or needs its facts again.
 */
export async function askForDescription(trx: Transaction<Tables>, mediaId: string): Promise<void> {
  await trx
    .insertInto("media_description")
    .values({ media_id: mediaId })
    .onConflict((conflict) => conflict.column("media_id").doUpdateSet({ tries: 0 }))
    .execute();
}

/** Leases the media that has waited longest. Returns undefined if no media is due. */
export async function leaseDescription(db: Kysely<Tables>): Promise<DescriptionLease | undefined> {
  const { rows } = await sql<{ media_id: string; lease: number; tries: number }>`
    update media_description
    set lease = lease + 1, tries = tries + 1, due_at = ${later(leaseMs)}
    where media_id = (
      select media_id from media_description where ${isDue(waitMsMax)}
      order by due_at limit 1 for update skip locked)
    returning media_id, lease, tries
  `.execute(db);
  const [row] = rows;
  return row && { id: row.media_id, number: row.lease, attempts: row.tries };
}

/** Extends a lease. Returns false if the lease is lost or the media was deleted. */
export async function extendDescription(db: Kysely<Tables>, lease: Lease): Promise<boolean> {
  return await extendLease(db, "media_description", lease, { leaseMs });
}

/**
 * Returns media to the queue after a delay. If `isForgiven` is set, the attempt does not count.
 */
export async function releaseDescription(
  db: Kysely<Tables>,
  lease: Lease,
  { afterMs, isForgiven }: { readonly afterMs: number; readonly isForgiven: boolean },
): Promise<boolean> {
  const options = { afterMs: Math.min(afterMs, waitMsMax), isForgiven };
  return await releaseLease(db, "media_description", lease, options);
}

/** Removes media from the queue. Returns false if the lease is lost or the media was deleted. */
export async function endDescription(trx: Transaction<Tables>, lease: Lease): Promise<boolean> {
  // The media is locked first, because its deletion takes the locks in this order.
  await trx.selectFrom("media").where("id", "=", lease.id).select("id").forUpdate().execute();
  const { numAffectedRows = 0n } = await sql`
    delete from media_description where ${isHeld("media_description", lease)}
  `.execute(trx);
  return numAffectedRows > 0n;
}
