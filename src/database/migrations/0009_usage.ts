import { type Kysely, sql } from "kysely";
import type { SchemaChange } from "../schema-change.ts";

/** The usage of accounts and keys, for their limits. */
export const usage: SchemaChange = {
  oldestProgram: "0.1.0",
  locks: { account: "writes", media: "writes", transcript_job: "calls" },
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of statements) await sql.raw(statement).execute(db);
  },
};

const statements = [
  // Rows that are written each second leave space for their next versions.
  `create table usage_minute (
     subject_id uuid primary key,
     account_id uuid not null references account on delete cascade,
     minute bigint not null,
     requests int not null,
     previous int not null) with (fillfactor = 50)`,
  `create index on usage_minute (account_id)`,
  `create table usage_day (
     subject_id uuid not null,
     account_id uuid not null references account on delete cascade,
     day date not null,
     requests bigint not null default 0,
     live_ms bigint not null default 0,
     short_ms bigint not null default 0,
     job_ms bigint not null default 0,
     primary key (subject_id, day)) with (fillfactor = 50)`,
  `create index on usage_day (account_id)`,
  `create table usage_node (
     id uuid primary key,
     writes bigint not null,
     leased_until timestamptz not null) with (fillfactor = 50)`,
  `create table usage_stream (
     subject_id uuid not null,
     node_id uuid not null references usage_node on delete cascade,
     account_id uuid not null references account on delete cascade,
     streams int not null,
     primary key (subject_id, node_id))`,
  `create index on usage_stream (node_id)`,
  `create index on usage_stream (account_id)`,
  `alter table transcript_job add key_id uuid`,
  // The sum of an account's stored bytes is computed from the index only.
  `create index on media (account_id) include (size_bytes)`,
];
