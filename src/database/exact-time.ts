import { sql } from "kysely";

/**
 * Selects a timestamptz with its microseconds, which a Date would lose, as text that PostgreSQL can
 * read back.
 */
export function exactTime(column: string) {
  return sql<string>`to_char(${sql.ref(column)} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;
}
