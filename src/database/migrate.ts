import { Kysely, PostgresDialect, sql } from "kysely";
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
import { mediaHold } from "./migrations/0029_media_hold.ts";
import { traceContext } from "./migrations/0031_trace_context.ts";
import { keySecretsAndUsage } from "./migrations/0033_key_secrets_and_usage.ts";
import { operatorsAndNodes } from "./migrations/0034_operators_and_nodes.ts";
import { modelTasks } from "./migrations/0035_model_tasks.ts";
import { alignmentTraceAndMembers } from "./migrations/0036_alignment_trace_and_members.ts";
import { newVersionJobs } from "./migrations/0037_new_version_jobs.ts";
import { binAndFilters } from "./migrations/0038_bin_and_filters.ts";
import { jobModelAndSpeakers } from "./migrations/0044_job_model_and_speakers.ts";
import { invitationMail } from "./migrations/0045_invitation_mail.ts";
import { recordingDefaults } from "./migrations/0046_recording_defaults.ts";
import { forgottenJobs } from "./migrations/0049_forgotten_jobs.ts";
import { auditRetention } from "./migrations/0050_audit_retention.ts";
import { linkRequests } from "./migrations/0051_link_requests.ts";
import { missingRight } from "./missing-right.ts";
import type { SchemaChanges, TableLock } from "./schema-change.ts";
import { lockTables, withSchemaLock } from "./schema-lock.ts";
import { missingMigrations } from "./schema-state.ts";

/**
 * All migrations, in order; numbers may be left out. A migration that has landed is never edited,
 * renamed or removed.
 */
export const migrations: SchemaChanges = {
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
  "0029_media_hold": mediaHold,
  "0031_trace_context": traceContext,
  "0033_key_secrets_and_usage": keySecretsAndUsage,
  "0034_operators_and_nodes": operatorsAndNodes,
  "0035_model_tasks": modelTasks,
  "0036_alignment_trace_and_members": alignmentTraceAndMembers,
  "0037_new_version_jobs": newVersionJobs,
  "0038_bin_and_filters": binAndFilters,
  "0044_job_model_and_speakers": jobModelAndSpeakers,
  "0045_invitation_mail": invitationMail,
  "0046_recording_defaults": recordingDefaults,
  "0049_forgotten_jobs": forgottenJobs,
  "0050_audit_retention": auditRetention,
  "0051_link_requests": linkRequests,
};

/**
 * Brings the database to the schema of this code in one transaction; nodes that start concurrently
 * wait for the one that does it. Returns the names of the migrations that were missing. Rejects
 * with NewerSchemaError if this code is too old for the database. The migration has its own
 * connection, because it may take longer than any statement of a call. The signal ends the waiting,
 * but not a change that has begun.
 */
export async function migrate(
  connection: pg.PoolConfig,
  log: Log,
  { list = migrations, signal }: { list?: SchemaChanges; signal?: AbortSignal | undefined } = {},
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
 * Applies the missing migrations, which are determined under the lock, because another node may
 * have migrated the database by now.
 */
async function applyMissing(trx: Kysely<unknown>, list: SchemaChanges): Promise<readonly string[]> {
  const missing = await missingMigrations(trx, list);
  await lockTables(trx, await locksOf(trx, missing, list));
  // This is the table of Kysely's Migrator, which was used previously.
  await sql`create table if not exists kysely_migration (name varchar(255) primary key, "timestamp" varchar(255) not null)`.execute(
    trx,
  );
  // Migrations of a database that has no such column yet can be used by every version that has it.
  await sql`alter table kysely_migration add if not exists oldest_program text`.execute(trx);
  for (const name of missing) {
    const change = list[name];
    if (!change) continue;
    await change.up(trx);
    await sql`insert into kysely_migration values (${name}, ${new Date().toISOString()}, ${change.oldestProgram})`.execute(
      trx,
    );
  }
  return missing;
}

/** The tables that exist and that the missing migrations lock, with the stronger of their locks. */
async function locksOf(
  trx: Kysely<unknown>,
  missing: readonly string[],
  list: SchemaChanges,
): Promise<ReadonlyMap<string, TableLock>> {
  const locks = new Map<string, TableLock>();
  for (const [table, lock] of missing.flatMap((name) => Object.entries(list[name]?.locks ?? {}))) {
    if (lock === "calls" || !locks.has(table)) locks.set(table, lock);
  }
  const { rows } = await sql<{
    name: string;
  }>`select name from unnest(${[...locks.keys()]}::text[]) name where to_regclass(quote_ident(name)) is not null`.execute(
    trx,
  );
  const existing = new Set(rows.map(({ name }) => name));
  return new Map([...locks].filter(([table]) => existing.has(table)));
}
