import { type Kysely, sql } from "kysely";
import { compareVersions } from "../std/compare-versions.ts";
import { packageVersion } from "../std/version.ts";
import { NewerSchemaError, type Requirement } from "./newer-schema-error.ts";
import type { SchemaChanges } from "./schema-change.ts";

/** How the schema of a database differs from that of this code. */
export interface SchemaState {
  /** The names of the migrations that the database lacks, in order. */
  readonly missing: readonly string[];
  /**
   * The names of the migrations of newer code, in order. This code can run on them, by what they
   * declare.
   */
  readonly newer: readonly string[];
}

interface LandedMigration {
  readonly name: string;
  /** null: from a version of the program that did not store it. */
  readonly oldestProgram: string | null;
}

/** Reads the schema. Rejects with NewerSchemaError if this code is too old for the database. */
export async function readSchema(db: Kysely<unknown>, list: SchemaChanges): Promise<SchemaState> {
  const landed = await landedMigrations(db);
  const newer = landed.filter(({ name }) => !Object.hasOwn(list, name));
  const program = packageVersion();
  const needed = requirementOf(newer);
  if (needed && (needed.version === null || compareVersions(program, needed.version) < 0)) {
    throw new NewerSchemaError(program, needed);
  }
  const names = new Set(landed.map(({ name }) => name));
  return {
    missing: Object.keys(list).filter((name) => !names.has(name)),
    newer: newer.map(({ name }) => name),
  };
}

/** Returns the missing migrations as readSchema() does, and rejects as it does. */
export async function missingMigrations(
  db: Kysely<unknown>,
  list: SchemaChanges,
): Promise<readonly string[]> {
  return (await readSchema(db, list)).missing;
}

/** Returns the migration that needs the newest program, or one that does not state its need. */
function requirementOf(newer: readonly LandedMigration[]): Requirement | undefined {
  let highest: { readonly version: string; readonly migration: string } | undefined;
  for (const { name: migration, oldestProgram: version } of newer) {
    if (version === null) return { version, migration };
    if (!highest || compareVersions(version, highest.version) > 0) highest = { version, migration };
  }
  return highest;
}

async function landedMigrations(db: Kysely<unknown>): Promise<readonly LandedMigration[]> {
  // to_regclass() is not used, because its result may be from before the wait for the lock.
  const table = await sql`
    select from pg_tables where tablename = 'kysely_migration' and schemaname = any (current_schemas(false))`.execute(
    db,
  );
  if (table.rows.length === 0) return [];
  // A database that this code has not changed yet has no column oldest_program.
  const { rows } = await sql<LandedMigration>`
    select name, to_jsonb(kysely_migration) ->> 'oldest_program' as "oldestProgram"
    from kysely_migration order by name`.execute(db);
  return rows;
}
