import { sql, type Kysely, type Transaction } from "kysely";
import { extendLease, isDue, isHeld, later, releaseLease, type Lease } from "../database/lease.ts";
import type { Tables } from "../database/tables.ts";

/** A worker's lease of media that it describes. */
export interface DescriptionLease extends Lease {
  /** Attempts that count, this one included. */
  readonly attempts: number;
}

/** What a worker has not extended for this long, another one takes. */
const leaseMs = 10_000;
/** No lease and no delay is longer. */
const waitMsMax = 60_000;

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
      select media_id from media_description where ${isDue(waitMsMax)}
      order by due_at limit 1 for update skip locked)
    returning media_id, lease, tries
  `.execute(db);
  const [row] = rows;
  return row && { id: row.media_id, number: row.lease, attempts: row.tries };
}

/** false: the lease is lost, or the media gone. */
export async function extendDescription(db: Kysely<Tables>, lease: Lease): Promise<boolean> {
  return await extendLease(db, "media_description", lease, { leaseMs });
}

/** Lets any worker have it after a while; with `isForgiven` the attempt does not count. */
export async function releaseDescription(
  db: Kysely<Tables>,
  lease: Lease,
  { afterMs, isForgiven }: { readonly afterMs: number; readonly isForgiven: boolean },
): Promise<boolean> {
  const options = { afterMs: Math.min(afterMs, waitMsMax), isForgiven };
  return await releaseLease(db, "media_description", lease, options);
}

/** Takes media out of the queue; false: the lease is lost, or the media gone. */
export async function endDescription(trx: Transaction<Tables>, lease: Lease): Promise<boolean> {
  // The media first: that is the order in which its deletion takes the locks.
  await trx.selectFrom("media").where("id", "=", lease.id).select("id").forUpdate().execute();
  const { numAffectedRows = 0n } = await sql`
    delete from media_description where ${isHeld("media_description", lease)}
  `.execute(trx);
  return numAffectedRows > 0n;
}
