import { sql, type Kysely, type RawBuilder } from "kysely";
import { later } from "./lease.ts";
import type { Tables } from "./tables.ts";

/**
 * Returns the time by the clock of the database, plus `plusMs`. All nodes share it: a node with a
 * wrong clock deletes nothing too early, and keeps nothing too long. `now` is a clock that tests
 * use in its place, in milliseconds.
 */
export function databaseTime(now: (() => number) | undefined, plusMs = 0): RawBuilder<Date> {
  return now ? sql<Date>`${new Date(now() + plusMs)}::timestamptz` : later(plusMs);
}

/** Returns a clock that shows the time of the database, in milliseconds, after one look at it. */
export async function databaseClock(db: Kysely<Tables>): Promise<() => number> {
  const { rows } = await sql<{ ms: number }>`select ${epochMs} as ms`.execute(db);
  const aheadMs = (rows[0]?.ms ?? Date.now()) - Date.now();
  return () => Date.now() + aheadMs;
}

/** The time of the database in milliseconds, as a column of a query. */
export const epochMs = sql<number>`(extract(epoch from clock_timestamp()) * 1000)::float8`;
