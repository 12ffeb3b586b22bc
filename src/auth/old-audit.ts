import { sql, type Kysely } from "kysely";
import type { Tables } from "../database/tables.ts";
import type { Log } from "../std/log.ts";

/** The number of events per transaction. */
const batchRows = 1000;
/** The advisory lock of a batch. One node deletes at a time, and the others leave it the rest. */
const auditLock = 4_750_414;

/**
 * Deletes events of the audit log that are older than `auditDays`; 0: none. Idempotent, even when
 * run concurrently on several nodes.
 */
export async function removeOldAudit(parts: {
  readonly db: Kysely<Tables>;
  readonly log: Log;
  readonly auditDays: number;
  readonly signal?: AbortSignal;
}): Promise<void> {
  const { db, log, auditDays, signal } = parts;
  if (auditDays === 0) return;
  let total = 0;
  for (let count = batchRows; count === batchRows; total += count) {
    signal?.throwIfAborted();
    count = await db.transaction().execute(async (trx) => {
      const { rows } = await sql<{ taken: boolean }>`
        select pg_try_advisory_xact_lock(${auditLock}) as taken`.execute(trx);
      if (rows[0]?.taken !== true) return 0;
      // Without it, a trigger refuses every deletion (migration 0050).
      await sql`select set_config('hlust.audit_days', ${`${auditDays}`}, true)`.execute(trx);
      // The trigger counts days as this statement does: where clocks change, some have 23 or 25
      // hours. Otherwise it would refuse what is selected here.
      const { numAffectedRows = 0n } = await sql`
        delete from audit_event where id in (
          select id from audit_event where at < now() - make_interval(days => ${auditDays}::int)
          order by at limit ${batchRows})`.execute(trx);
      return Number(numAffectedRows);
    });
  }
  if (total > 0) log.info({ count: total, auditDays }, "audit.old_removed");
}
