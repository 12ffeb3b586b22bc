import type { Migration } from "kysely/migration";

/**
 * A migration, and what nodes of another version have to know about it. A version runs next to the
 * one before it on the same database, and the one before it can be started again: a change expands
 * the schema in one version, and a later version contracts it.
 */
export interface SchemaChange extends Migration {
  /**
   * The oldest version of the program that can run on the schema after this change, for example
   * "0.1.0". The database keeps it: an older program refuses to start there. It is at most the
   * version in which the change is released.
   */
  readonly oldestProgram: string;
  /**
   * The existing tables whose calls wait until all changes of the transaction are done. "writes":
   * only writes of the table wait; "calls": reads too.
   */
  readonly locks: Readonly<Record<string, TableLock>>;
}

export type TableLock = "writes" | "calls";

/** All migrations, in order. */
export type SchemaChanges = Readonly<Record<string, SchemaChange>>;
