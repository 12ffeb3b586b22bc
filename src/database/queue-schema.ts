import { type Kysely, sql } from "kysely";
import { getConstructionPlans, getMigrationPlans } from "pg-boss";

/** Where pg-boss keeps the queue of jobs. */
export const queueSchema = "pgboss";

/**
 * What the queue's schema lacks, as the name of a migration: undefined where it is as this version
 * of pg-boss needs it.
 */
export async function missingQueueSchema(db: Kysely<unknown>): Promise<string | undefined> {
  const version = await currentVersion(db);
  return version === undefined || version < neededVersion() ? nameOf(neededVersion()) : undefined;
}

/** Makes or changes it, within the transaction of withSchemaLock(). */
export async function migrateQueueSchema(db: Kysely<unknown>): Promise<void> {
  const version = await currentVersion(db);
  const plans =
    version === undefined
      ? getConstructionPlans(queueSchema)
      : getMigrationPlans(queueSchema, version);
  // pg-boss brings a transaction of its own, which would end ours, and builds indexes after it.
  // What waits in its table is little.
  await sql.raw(plans.replace(/^\s*(BEGIN|COMMIT);$|\bCONCURRENTLY\b/gm, "")).execute(db);
}

function nameOf(version: number): string {
  return `${queueSchema}_${version}`;
}

/** undefined: there is none. */
async function currentVersion(db: Kysely<unknown>): Promise<number | undefined> {
  const table = await sql`
    select from pg_tables where schemaname = ${queueSchema} and tablename = 'version'`.execute(db);
  if (table.rows.length === 0) return undefined;
  const { rows } = await sql<{ version: number }>`
    select version::int from ${sql.table(`${queueSchema}.version`)}`.execute(db);
  return rows[0]?.version;
}

/** pg-boss tells it nowhere else. */
function neededVersion(): number {
  const [, version] =
    /INSERT INTO \w+\.version\(version\) VALUES \('(\d+)'\)/.exec(
      getConstructionPlans(queueSchema),
    ) ?? [];
  if (version === undefined) throw new Error("pg-boss does not tell the version of its schema");
  return Number(version);
}
