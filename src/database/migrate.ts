import { Kysely, PostgresDialect, sql } from "kysely";
import { Migrator, type Migration } from "kysely/migration";
import pg from "pg";
import type { Log } from "../std/log.ts";
import { first } from "./migrations/0001_first.ts";
import { jobWindows } from "./migrations/0002_job_windows.ts";
import { archive } from "./migrations/0003_archive.ts";
import { webhooks } from "./migrations/0004_webhooks.ts";
import { fairJobs } from "./migrations/0005_fair_jobs.ts";
import { access } from "./migrations/0006_access.ts";
import { sessions } from "./migrations/0007_sessions.ts";
import { streamTokens } from "./migrations/0008_stream_tokens.ts";
import { usage } from "./migrations/0009_usage.ts";
import { idleWorkers } from "./migrations/0010_idle_workers.ts";
import { archiveIdentity } from "./migrations/0011_archive_identity.ts";

/** Every migration, in order. A landed one is never edited, renamed or removed. */
const migrations: Readonly<Record<string, Migration>> = {
  "0001_first": first,
  "0002_job_windows": jobWindows,
  "0003_archive": archive,
  "0004_webhooks": webhooks,
  "0005_fair_jobs": fairJobs,
  "0006_access": access,
  "0007_sessions": sessions,
  "0008_stream_tokens": streamTokens,
  "0009_usage": usage,
  "0010_idle_workers": idleWorkers,
  "0011_archive_identity": archiveIdentity,
};

/**
 * Brings the database to the schema of this code; nodes that start at once wait for the one that does it. Refuses a
 * database that newer code has migrated. A connection of its own: a migration may take longer than any statement of a call.
 */
export async function migrate(
  connection: pg.PoolConfig,
  log: Log,
  list: Readonly<Record<string, Migration>> = migrations,
): Promise<void> {
  const pool = new pg.Pool({ ...connection, max: 1 });
  pool.on("error", () => {}); // the query in progress tells it
  const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) });
  try {
    const migrator = new Migrator({
      db,
      provider: { getMigrations: () => Promise.resolve({ ...list }) },
    });
    await refuseUnknown(db, list);
    const { error, results } = await migrator.migrateToLatest();
    for (const { migrationName, status } of results ?? []) {
      if (status === "Success") log.info({ migration: migrationName }, "database.migrated");
    }
    if (error !== undefined) {
      await refuseUnknown(db, list); // a newer node may have come first
      throw error;
    }
  } finally {
    await db.destroy();
  }
}

async function refuseUnknown(
  db: Kysely<unknown>,
  list: Readonly<Record<string, Migration>>,
): Promise<void> {
  const table = await sql<{ there: boolean }>`
    select to_regclass('kysely_migration') is not null as there`.execute(db);
  if (!table.rows[0]?.there) return;
  const { rows } = await sql<{ name: string }>`
    select name from kysely_migration order by name`.execute(db);
  const unknown = rows.map(({ name }) => name).filter((name) => !Object.hasOwn(list, name));
  if (unknown.length > 0) {
    throw new Error(
      `the database was used by a newer Hlust: it has the migration ${unknown.join(", ")}, which this version does not ` +
        `know. Run that version or a later one; going back needs a backup from before.`,
    );
  }
}
