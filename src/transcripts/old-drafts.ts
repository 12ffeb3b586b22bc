import { sql, type Kysely } from "kysely";
import { databaseTime } from "../database/database-time.ts";
import type { Tables } from "../database/tables.ts";
import type { Log } from "../std/log.ts";

/** The number of days that a draft is kept after it was saved. */
export const draftDays = 30;
const dayMs = 86_400_000;
/** The number of rows per transaction, which can have 8 MiB each. */
const batchRows = 50;

/**
 * Deletes the drafts that were saved 30 days ago or earlier. Idempotent, even when run concurrently
 * on several nodes.
 */
export async function removeOldDrafts(parts: {
  readonly db: Kysely<Tables>;
  readonly log: Log;
  readonly now?: () => number;
  readonly signal?: AbortSignal;
}): Promise<void> {
  const { db, log, now, signal } = parts;
  const before = databaseTime(now, -draftDays * dayMs);
  let total = 0;
  for (let count = -1; count !== 0; total += count) {
    signal?.throwIfAborted();
    const { numAffectedRows = 0n } = await sql`
      delete from transcript_draft where (transcript_id, actor) in (
        select transcript_id, actor from transcript_draft where updated_at < ${before}
        limit ${batchRows} for update skip locked)
    `.execute(db);
    count = Number(numAffectedRows);
  }
  if (total > 0) log.info({ count: total }, "draft.old_removed");
}
