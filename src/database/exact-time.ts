import { sql, type RawBuilder } from "kysely";

/**
 * Selects a timestamptz with its microseconds, which a Date would lose, as text that PostgreSQL can
 * read back.
 */
export function exactTime(time: string | RawBuilder<unknown>) {
  const value = typeof time === "string" ? sql.ref(time) : time;
  return sql<string>`to_char(${value} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;
}
