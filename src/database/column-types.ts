import type { ColumnType } from "kysely";

/** A timestamptz: read as Date; written as Date, or left to now(). */
export type Instant = ColumnType<Date, Date | undefined, Date>;
/** A bigint whose value fits in a number; pg returns it as text. */
export type Whole = ColumnType<string, number, number>;
