import { Kysely, PostgresDialect, sql } from "kysely";
import type { Migration } from "kysely/migration";
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
import { mediaFacts } from "./migrations/0012_media_facts.ts";
import { oneQueue } from "./migrations/0013_one_queue.ts";
import { originalContract } from "./migrations/0014_original_contract.ts";
import { listOrders } from "./migrations/0015_list_orders.ts";
import { content } from "./migrations/0016_content.ts";
import { resumableUploads } from "./migrations/0017_resumable_uploads.ts";
import { alignmentJobs } from "./migrations/0018_alignment_jobs.ts";
import { resourceChanges } from "./migrations/0019_resource_changes.ts";
import { versionAuthors } from "./migrations/0020_version_authors.ts";
import { drafts } from "./migrations/0021_drafts.ts";
import { reviewAndPresence } from "./migrations/0022_review_and_presence.ts";
import { shares } from "./migrations/0023_shares.ts";
import { consoleSettings } from "./migrations/0024_console_settings.ts";
import { mediaOutputs } from "./migrations/0025_media_outputs.ts";
import { vocabulary } from "./migrations/0026_vocabulary.ts";
import { jobHints } from "./migrations/0027_job_hints.ts";
import { jobWriting } from "./migrations/0028_job_writing.ts";
import { keySecretsAndUsage } from "./migrations/0033_key_secrets_and_usage.ts";
import { missingRight } from "./missing-right.ts";
import { withSchemaLock } from "./schema-lock.ts";

export type MigrationList = Readonly<Record<string, Migration>>;

/** All migrations, in order. A migration that has landed is never edited, renamed or removed. */
export const migrations: MigrationList = {
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
  "0012_media_facts": mediaFacts,
  "0013_one_queue": oneQueue,
  "0014_original_contract": originalContract,
  "0015_list_orders": listOrders,
  "0016_content": content,
  "0017_resumable_uploads": resumableUploads,
  "0018_alignment_jobs": alignmentJobs,
  "0019_resource_changes": resourceChanges,
  "0020_version_authors": versionAuthors,
  "0021_drafts": drafts,
  "0022_review_and_presence": reviewAndPresence,
  "0023_shares": shares,
  "0024_console_settings": consoleSettings,
  "0025_media_outputs": mediaOutputs,
  "0026_vocabulary": vocabulary,
  "0027_job_hints": jobHints,
  "0028_job_writing": jobWriting,
  "0033_key_secrets_and_usage": keySecretsAndUsage,
};

/**
 * Brings the database to the schema of this code in one transaction; nodes that start concurrently
 * wait for the one that does it. Returns the names of the migrations that were missing. Refuses a
 * database that newer code has migrated. The migration has its own connection, because it may take
 * longer than any statement of a call. The signal ends the waiting, but not a change that has
 * begun.
 */
export async function migrate(
  connection: pg.PoolConfig,
  log: Log,
  { list = migrations, signal }: { list?: MigrationList; signal?: AbortSignal | undefined } = {},
): Promise<readonly string[]> {
  const pool = new pg.Pool({ ...connection, application_name: "hlust migrate", max: 1 });
  pool.on("error", () => {}); // the query in progress fails with it
  const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) });
  try {
    const change = (trx: Kysely<unknown>) => applyMissing(trx, list);
    const applied = await withSchemaLock(db, change, { log, signal });
    for (const migration of applied) log.info({ migration }, "database.migrated");
    return applied;
  } catch (error) {
    throw (await missingRight(db, error)) ?? error;
  } finally {
    await db.destroy();
  }
}

/**
 * The names of the migrations that the database lacks, in order. Refuses a database that newer code
 * has migrated.
 */
export async function missingMigrations(
  db: Kysely<unknown>,
  list: MigrationList = migrations,
): Promise<readonly string[]> {
  const landed = await landedMigrations(db);
  const unknown = landed.filter((name) => !Object.hasOwn(list, name));
  if (unknown.length > 0) {
    throw new Error(
      `the database was used by a newer Hlust: it has the migration ${unknown.join(", ")}, which this version does not ` +
        `know. Run that version or a later one; going back needs a backup from before.`,
    );
  }
  return Object.keys(list).filter((name) => !landed.includes(name));
}

/**
 * Applies the missing migrations, which are determined under the lock, because another node may
 * have migrated the database by now.
 */
async function applyMissing(trx: Kysely<unknown>, list: MigrationList): Promise<readonly string[]> {
  const missing = await missingMigrations(trx, list);
  // This is the table of Kysely's Migrator, which was used previously.
  await sql`create table if not exists kysely_migration (name varchar(255) primary key, "timestamp" varchar(255) not null)`.execute(
    trx,
  );
  for (const name of missing) {
    await list[name]?.up(trx);
    await sql`insert into kysely_migration values (${name}, ${new Date().toISOString()})`.execute(
      trx,
    );
  }
  return missing;
}

async function landedMigrations(db: Kysely<unknown>): Promise<readonly string[]> {
  // to_regclass() is not used, because its result may be from before the wait for the lock.
  const table = await sql`
    select from pg_tables where tablename = 'kysely_migration' and schemaname = any (current_schemas(false))`.execute(
    db,
  );
  if (table.rows.length === 0) return [];
  const { rows } = await sql<{ name: string }>`
    select name from kysely_migration order by name`.execute(db);
  return rows.map(({ name }) => name);
}
