import { setTimeout as sleep } from "node:timers/promises";
import { sql, type Kysely } from "kysely";
import type { Tables } from "./tables.ts";

/**
 * Delays a poll for work after a failed poll, until the database answers and another `waitMs` have
 * passed. While the database was unavailable, all leases may have expired. During this delay, the
 * lease keepers of other workers extend their leases.
 */
export function leaveToKeepers(
  poll: () => Promise<void>,
  {
    db,
    waitMs,
    signal,
  }: { readonly db: Kysely<Tables>; readonly waitMs: number; readonly signal: AbortSignal },
): () => Promise<void> {
  let hasFailed = false;
  return async () => {
    if (hasFailed) {
      await sql`select 1`.execute(db);
      await sleep(waitMs, undefined, { signal, ref: false });
    }
    hasFailed = true;
    await poll();
    hasFailed = false;
  };
}
