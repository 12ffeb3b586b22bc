import { type Kysely, sql } from "kysely";
import type { SchemaChange } from "../schema-change.ts";

/** Console sessions, and tokens of sign-in links that work once. */
export const sessions: SchemaChange = {
  oldestProgram: "0.1.0",
  locks: { account: "writes", api_key: "writes", member: "writes" },
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of statements) await sql.raw(statement).execute(db);
  },
};

const statements = [
  `create table session (
     id uuid primary key,
     account_id uuid not null references account on delete cascade,
     member_id uuid references member on delete cascade,
     api_key_id uuid references api_key on delete cascade,
     secret_hash bytea not null,
     previous_hash bytea,
     previous_until timestamptz,
     rotated_at timestamptz not null,
     created_at timestamptz not null,
     last_used_at timestamptz not null,
     expires_at timestamptz not null,
     address text not null,
     user_agent text not null,
     check (num_nonnulls(member_id, api_key_id) = 1))`,
  `create index on session (account_id, created_at desc)`,
  `create index on session (member_id)`,
  `create index on session (api_key_id)`,
  `create index on session (expires_at)`,
  `create table sign_in_token (
     id uuid primary key,
     account_id uuid not null references account on delete cascade,
     member_id uuid references member on delete cascade,
     api_key_id uuid references api_key on delete cascade,
     secret_hash bytea not null,
     expires_at timestamptz not null,
     check (num_nonnulls(member_id, api_key_id) = 1))`,
  `create index on sign_in_token (member_id)`,
  `create index on sign_in_token (api_key_id)`,
  `create index on sign_in_token (account_id)`,
  `create index on sign_in_token (expires_at)`,
];
