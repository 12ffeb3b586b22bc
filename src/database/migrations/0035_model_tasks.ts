import { type Kysely, sql } from "kysely";
import type { SchemaChange } from "../schema-change.ts";

/** Adds the tasks with which operators pull, remove and test models. Takes milliseconds. */
export const modelTasks: SchemaChange = {
  oldestProgram: "0.1.0",
  locks: {},
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of statements) await sql.raw(statement).execute(db);
  },
};

const statements = [
  `create table model_task (
    id uuid primary key,
    folder_id uuid not null,
    host text not null,
    kind text not null check (kind in ('PULL', 'REMOVE', 'TEST')),
    model text not null,
    state text not null default 'WAITING'
      check (state in ('WAITING', 'RUNNING', 'SUCCEEDED', 'FAILED', 'CANCELLED')),
    is_cancelled boolean not null default false,
    lease integer not null default 0,
    leased_until timestamptz not null default now(),
    attempts integer not null default 0,
    phase text not null default '',
    received_bytes bigint not null default 0,
    total_bytes bigint not null default 0,
    failure text not null default '',
    result jsonb,
    created_at timestamptz not null default now(),
    ended_at timestamptz)`,
  `create index on model_task (folder_id, created_at) where state in ('WAITING', 'RUNNING')`,
  `create index on model_task (created_at, id)`,
];
