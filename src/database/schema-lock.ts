import { setTimeout as sleep } from "node:timers/promises";
import { type Kysely, sql, type Transaction } from "kysely";
import type { Log } from "../std/log.ts";
import { refusesConnection } from "./connection-refusal.ts";
import type { TableLock } from "./schema-change.ts";

/** The advisory lock that is held while the schema is changed. */
const schemaLock = 4_750_412;
/**
 * The lock of Kysely's Migrator, with which earlier versions change the schema: such a version may
 * start concurrently.
 */
const earlierLock = "3853314791062309107";
/** The time for which a change waits for the lock of another migration before it logs this. */
const lockSeconds = 5;
/**
 * The time in which a change has to get the locks of all its tables. After it, the change releases
 * them, so that calls that wait behind it can continue. It is shorter than PostgreSQL's
 * deadlock_timeout (1 s): a call that holds a table and waits for another one would be aborted to
 * end the deadlock, but the change gives up before.
 */
const tableLocksMs = 700;
const retryMs = 1_000;
/**
 * The maximum time that the service waits at startup for another node's migration, for transactions
 * that lock tables, or for a connection.
 */
const waitMsMax = 3_600_000;

/**
 * Runs a change of the schema in one transaction, one process at a time. The locks belong to the
 * transaction, so they end with it behind a pooler, too. It logs that it is waiting, even if it
 * waits for a connection because the server has none left. Rejects with a message for the operator
 * after waiting for an hour, and with the signal's reason when the signal aborts.
 */
export async function withSchemaLock<T>(
  db: Kysely<unknown>,
  change: (trx: Transaction<unknown>) => Promise<T>,
  { log, signal }: { readonly log: Log; readonly signal?: AbortSignal | undefined },
): Promise<T> {
  const since = performance.now();
  for (;;) {
    let waitsFor = "a connection";
    try {
      return await db.transaction().execute(async (trx) => {
        waitsFor = "another migration";
        // A change takes as long as the data requires; the role may have limits of its own.
        await sql`select set_config('statement_timeout', '0', true), set_config('idle_in_transaction_session_timeout', '0', true),
          set_config('lock_timeout', ${`${lockSeconds}s`}, true)`.execute(trx);
        for (const lock of [schemaLock, earlierLock]) {
          await sql`select pg_advisory_xact_lock(${lock}::bigint)`.execute(trx);
          signal?.throwIfAborted();
        }
        waitsFor = "a table that a transaction uses";
        return await change(trx);
      });
    } catch (error) {
      signal?.throwIfAborted();
      if (!isLockFailure(error) && !refusesConnection(error)) throw error;
      const waitedMs = Math.round(performance.now() - since);
      if (waitedMs > waitMsMax) {
        throw new Error(
          `the schema of the database could not be changed for an hour: it waited for ${waitsFor}. Find who holds it with ` +
            `select pid, usename, state, query from pg_stat_activity`,
          { cause: error },
        );
      }
      log.warn({ waitsFor, waitedMs }, "database.migration_waiting");
      await sleep(retryMs, undefined, signal && { signal });
    }
  }
}

/**
 * Locks existing tables for a change, before it changes the first one. Once it has all of them, it
 * waits for no call, however long it takes, and no call can be in a deadlock with it.
 */
export async function lockTables(
  trx: Kysely<unknown>,
  tables: ReadonlyMap<string, TableLock>,
): Promise<void> {
  const giveUpAt = performance.now() + tableLocksMs;
  for (const [table, lock] of tables) {
    const leftMs = Math.max(1, Math.round(giveUpAt - performance.now()));
    const mode = sql.raw(lock === "calls" ? "access exclusive" : "share row exclusive");
    await sql`select set_config('lock_timeout', ${`${leftMs}ms`}, true)`.execute(trx);
    await sql`lock table ${sql.table(table)} in ${mode} mode`.execute(trx);
  }
}

/**
 * Whether the change waited too long for a lock, or was aborted to end a deadlock with an older
 * node.
 */
function isLockFailure(error: unknown): boolean {
  if (!(error instanceof Error) || !("code" in error)) return false;
  return error.code === "55P03" || error.code === "40P01";
}
