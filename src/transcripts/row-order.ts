import { sql, type RawBuilder } from "kysely";
import { exactTime } from "../database/exact-time.ts";
import type { ListPosition } from "../std/page-request.ts";

/** The order of a list: by a key, then by id, both in one direction. */
export interface RowOrder {
  /** Returns the key of the row with this alias, as the index of the order has it; never null. */
  readonly key: (alias: string) => RawBuilder<unknown>;
  readonly type: "int" | "text" | "timestamptz";
  readonly isDescending: boolean;
  /** The clauses of filters that compare the key. Default: none. */
  readonly field?: "time" | "duration";
}

/** Returns the order by the time in a column, newest first. */
export function newestBy(column: string): RowOrder {
  const key = (alias: string) => sql`${sql.ref(`${alias}.${column}`)}`;
  return { key, type: "timestamptz", isDescending: true };
}

/** Selects the key of a row as text that PostgreSQL can read back, for positions. */
export function positionOf({ key, type }: RowOrder, alias: string): RawBuilder<string> {
  return type === "timestamptz" ? exactTime(key(alias)) : sql<string>`${key(alias)}::text`;
}

/** Returns the columns of ORDER BY. */
export function orderedBy({ key, isDescending }: RowOrder, alias: string): RawBuilder<unknown> {
  const direction = sql.raw(isDescending ? "desc" : "asc");
  return sql`${key(alias)} ${direction}, ${sql.ref(`${alias}.id`)} ${direction}`;
}

/** Returns the condition that a row comes after a position. */
export function isBehind(
  { key, type, isDescending }: RowOrder,
  alias: string,
  [position, id]: ListPosition,
): RawBuilder<boolean> {
  const sign = sql.raw(isDescending ? "<" : ">");
  const row = sql`(${key(alias)}, ${sql.ref(`${alias}.id`)})`;
  return sql<boolean>`${row} ${sign} (${position}::${sql.raw(type)}, ${id}::uuid)`;
}

/** Returns the order for the rows of a subquery that has the key as the column `key`. */
export function withKey(order: RowOrder): RowOrder {
  return { ...order, key: (alias) => sql.ref(`${alias}.key`) };
}
