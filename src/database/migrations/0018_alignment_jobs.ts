import { type Kysely, sql } from "kysely";
import type { SchemaChange } from "../schema-change.ts";

/**
 * Adds the jobs that align the words of a version to the media of its transcript. A job outlives
 * its transcript, as other jobs do, so it does not refer to it.
 */
export const alignmentJobs: SchemaChange = {
  oldestProgram: "0.1.0",
  locks: { account: "writes" },
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of statements) await sql.raw(statement).execute(db);
  },
};

const isOpen = `state in ('QUEUED', 'TRANSCODING', 'ALIGNING')`;
const statements = [
  `create table alignment_job (
     id uuid primary key,
     account_id uuid not null references account on delete cascade,
     key_id uuid,
     transcript_id uuid not null,
     version_id uuid not null,
     state text not null default 'QUEUED'
       check (state in ('QUEUED', 'TRANSCODING', 'ALIGNING', 'SUCCESS', 'ERROR', 'CANCELLED')),
     progress_percent smallint not null default 0 check (progress_percent between 0 and 100),
     turn int not null,
     lease int not null default 0,
     tries smallint not null default 0,
     due_at timestamptz not null default now(),
     created_version_id uuid,
     error jsonb,
     started_at timestamptz not null default now(),
     updated_at timestamptz not null default now())`,
  `create index on alignment_job (account_id, started_at desc, id desc)`,
  `create index on alignment_job (account_id, updated_at)`,
  `create index on alignment_job (transcript_id, started_at desc, id desc)`,
  `create index on alignment_job (account_id, turn) where ${isOpen}`,
  `create index on alignment_job (turn, id) where ${isOpen}`,
];
