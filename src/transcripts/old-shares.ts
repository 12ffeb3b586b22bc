import { sql, type Kysely } from "kysely";
import { databaseTime } from "../database/database-time.ts";
import type { Tables } from "../database/tables.ts";
import type { Log } from "../std/log.ts";

/** The number of rows per transaction. */
const batchRows = 1000;

/** Deletes shares that have expired. Idempotent, even when run concurrently on several nodes. */
export async function removeOldShares(parts: {
  readonly db: Kysely<Tables>;
  readonly log: Log;
  readonly now?: () => number;
  readonly signal?: AbortSignal;
}): Promise<void> {
  const { db, log, now, signal } = parts;
  let total = 0;
  for (let count = -1; count !== 0; total += count) {
    signal?.throwIfAborted();
    const { numAffectedRows = 0n } = await sql`
      delete from transcript_share where id in (
        select id from transcript_share where expires_at <= ${databaseTime(now)}
        limit ${batchRows} for update skip locked)
    `.execute(db);
    count = Number(numAffectedRows);
  }
  if (total > 0) log.info({ count: total }, "share.old_removed");
}
