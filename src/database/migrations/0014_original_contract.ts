import { type Kysely, sql } from "kysely";
import type { SchemaChange } from "../schema-change.ts";

/**
 * Changes what rows contain to the contract of the original service (docs/decisions.md):
 *
 * - a job without a transcript is ERROR or CANCELLED, no longer FAILED;
 * - a speaker has a `fullName`, no longer a `name`;
 * - metadata has one original source: `originalUri` is set for media from a URL only, and what was
 *   a dictation as well keeps that as additional metadata;
 * - an upload has the name of its file, which is unknown for existing ones.
 *
 * Nodes of an earlier version cannot end a job without a transcript after this, and do not show the
 * names of speakers: stop them first. All rows are read, and those with speakers or with an upload
 * are rewritten.
 */
export const originalContract: SchemaChange = {
  oldestProgram: "0.1.0",
  locks: { transcript_job: "calls", upload: "calls" },
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of statements) await sql.raw(statement).execute(db);
    for (const table of ["transcript", "transcript_version", "transcript_job"]) {
      for (const change of changes) await sql.raw(change(table)).execute(db);
    }
  },
};

const statements = [
  `alter table upload add file_name text not null default ''`,
  `alter table transcript_job drop constraint transcript_job_state_check`,
  `update transcript_job set state = case when error ->> 'code' = '1' then 'CANCELLED' else 'ERROR' end
    where state = 'FAILED'`,
  `alter table transcript_job add constraint transcript_job_state_check
    check (state in ('PROCESSING', 'SUCCESS', 'ERROR', 'CANCELLED'))`,
];

const changes: readonly ((table: string) => string)[] = [
  (table) => `
    update ${table} set metadata = jsonb_set(metadata, '{speakers}', (
      select coalesce(jsonb_object_agg(key, (value - 'name') ||
        case when value ? 'name' then jsonb_build_object('fullName', value -> 'name') else '{}' end), '{}')
      from jsonb_each(metadata -> 'speakers')))
    where metadata ? 'speakers'`,
  (table) => `
    update ${table} set metadata = metadata - 'originalUri'
    where metadata ->> 'originalUri' like 'uploads/%'`,
  (table) => `
    update ${table} set metadata = (metadata - 'dictation') || jsonb_build_object('additionalMetadata',
      '{"dictation": "true"}' || coalesce(metadata -> 'additionalMetadata', '{}'))
    where metadata ? 'dictation' and metadata ? 'originalUri'`,
];
