import { type Kysely, sql } from "kysely";
import type { SchemaChange } from "../schema-change.ts";

/** The URLs that are notified when jobs end, and their deliveries. */
export const webhooks: SchemaChange = {
  oldestProgram: "0.1.0",
  locks: { account: "writes" },
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of statements) await sql.raw(statement).execute(db);
  },
};

const statements = [
  `create table webhook (
     id uuid primary key,
     account_id uuid not null references account on delete cascade,
     url text not null,
     display_name text not null,
     event_types text[] not null,
     secret bytea not null,
     previous_secret bytea,
     previous_secret_until timestamptz,
     disabled_at timestamptz,
     disabled_reason text,
     failing_since timestamptz,
     created_at timestamptz not null default now())`,
  `create index on webhook (account_id, created_at)`,
  `create table webhook_delivery (
     id uuid primary key,
     webhook_id uuid not null references webhook on delete cascade,
     event_type text not null,
     job_id uuid,
     body text not null,
     state text not null default 'PENDING' check (state in ('PENDING', 'DELIVERED', 'FAILED')),
     attempts int not null default 0,
     tries int not null default 0,
     lease int not null default 0,
     due_at timestamptz not null default now(),
     give_up_at timestamptz not null default now() + interval '24 hours',
     last_attempt_at timestamptz,
     last_http_status int,
     last_problem text,
     created_at timestamptz not null default now())`,
  `create index on webhook_delivery (webhook_id, created_at, id)`,
  `create index on webhook_delivery (webhook_id, due_at) where state = 'PENDING'`,
  `create index on webhook_delivery (created_at)`,
];
