import { setTimeout as sleep } from "node:timers/promises";
import { type Kysely, sql, type Transaction } from "kysely";
import type { Log } from "../std/log.ts";

/** The advisory lock that is held while the schema is changed. */
const schemaLock = 4_750_412;
/** How long a change waits for a lock before it gives up all that it holds, so that calls which wait behind it go on. */
const lockSeconds = 5;
const retryMs = 1_000;
/** How long a start waits for another node's migration, or for transactions that hold tables. */
const waitMsMax = 3_600_000;

/**
 * Runs a change of the schema in one transaction, one process at a time: the lock is the transaction's, so it ends with it behind a
 * pooler, too. Says in the log that it waits, and rejects with a sentence for the operator where it waited for an hour.
 */
export async function withSchemaLock<T>(
  db: Kysely<unknown>,
  log: Log,
  change: (trx: Transaction<unknown>) => Promise<T>,
): Promise<T> {
  const since = performance.now();
  for (;;) {
    let waitsFor = "another migration";
    try {
      return await db.transaction().execute(async (trx) => {
        // A change takes as long as the data needs; a role may have limits of its own.
        await sql`select set_config('statement_timeout', '0', true), set_config('idle_in_transaction_session_timeout', '0', true),
          set_config('lock_timeout', ${`${lockSeconds}s`}, true)`.execute(trx);
        await sql`select pg_advisory_xact_lock(${schemaLock})`.execute(trx);
        waitsFor = "a table that a transaction uses";
        return await change(trx);
      });
    } catch (error) {
      if (!isLockTimeout(error)) throw error;
      const waitedMs = Math.round(performance.now() - since);
      if (waitedMs > waitMsMax) {
        throw new Error(
          `the schema of the database could not be changed for an hour, because ${waitsFor} held it: find who with ` +
            `select pid, state, query from pg_stat_activity`,
          { cause: error },
        );
      }
      log.warn({ waitsFor, waitedMs }, "database.migration_waiting");
      await sleep(retryMs);
    }
  }
}

function isLockTimeout(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "55P03";
}
