import { setTimeout as sleep } from "node:timers/promises";
import { sql, type Kysely } from "kysely";
import type { Tables } from "./tables.ts";

/**
 * Makes a poll for work wait after one that failed: until the database answers, and then `waitMs`.
 * While the database was unavailable all leases may have expired, and in that time the lease
 * keepers of other workers extend theirs.
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
