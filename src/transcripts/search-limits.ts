import { sql, type Kysely } from "kysely";
import type { Tables } from "../database/tables.ts";
import { FairSemaphore } from "../std/fair-semaphore.ts";
import { ServiceError } from "../std/service-error.ts";

/** Runs the slow part of a search in its turn, within a time limit. */
export interface SearchLimits {
  /** Runs one statement that uses an index, in a transaction with a time limit. */
  indexed<T>(search: (db: Kysely<Tables>) => Promise<T>): Promise<T>;
  /** Runs many short statements; `checkTime` throws once the time is used up. */
  wide<T>(search: (checkTime: () => void) => Promise<T>): Promise<T>;
}

/**
 * Searches use at most 8 of the 20 connections of a node. An indexed search uses one for 5 to 200
 * ms. A wide search, which takes seconds in an account with a million rows, uses one for each
 * of its short statements.
 */
const busyReason = "SEARCHES_BUSY";
const indexedLimits = {
  running: 6,
  runningOfOne: 3,
  waitingOfOne: 10,
  waitMsMax: 5_000,
  busyReason,
};
const wideLimits = { running: 2, runningOfOne: 1, waitingOfOne: 4, waitMsMax: 5_000, busyReason };

/** Creates the limits of a search for an account, whose signal ends the search. */
export type SearchLimitsOf = (accountId: string, signal: AbortSignal) => SearchLimits;

/**
 * Creates the limits for the searches of this node. The time limit of a search starts when the
 * search starts.
 */
export function createSearchLimits({
  db,
  filterMsMax = 5_000,
  now = Date.now,
}: {
  readonly db: Kysely<Tables>;
  /** The time limit of a filtered list. Default 5 s. */
  readonly filterMsMax?: number | undefined;
  readonly now?: (() => number) | undefined;
}): SearchLimitsOf {
  const indexed = new FairSemaphore(indexedLimits);
  const wide = new FairSemaphore(wideLimits);
  return (accountId, signal) => ({
    indexed: async (search) =>
      await indexed.run(accountId, signal, async () => {
        try {
          return await db.transaction().execute(async (trx) => {
            await sql`select set_config('statement_timeout', ${`${filterMsMax}`}, true)`.execute(
              trx,
            );
            return await search(trx);
          });
        } catch (error) {
          if (isQueryCanceled(error))
            throw tooSlow("use a longer text, or add clauses with AND", error);
          throw error;
        }
      }),
    wide: async (search) =>
      await wide.run(accountId, signal, async () => {
        const end = now() + filterMsMax;
        return await search(() => {
          signal.throwIfAborted();
          if (now() >= end) throw tooSlow("use a text of three letters or more");
        });
      }),
  });
}

function isQueryCanceled(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "57014";
}

function tooSlow(advice: string, cause?: unknown): ServiceError {
  const description = `takes too long in this account: ${advice}`;
  return new ServiceError("invalid_argument", `filter: ${description}`, {
    reason: "FILTER_TOO_SLOW",
    violations: [{ field: "filter", description }],
    cause,
  });
}
