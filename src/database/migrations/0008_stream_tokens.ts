import { type Kysely, sql } from "kysely";
import type { SchemaChange } from "../schema-change.ts";

/** Tokens for one socket each, valid until it is opened or a minute has passed. */
export const streamTokens: SchemaChange = {
  oldestProgram: "0.1.0",
  locks: { account: "writes" },
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of statements) await sql.raw(statement).execute(db);
  },
};

const statements = [
  `create table stream_token (
     id uuid primary key,
     account_id uuid not null references account on delete cascade,
     actor text not null,
     credential_kind text not null,
     credential_id uuid not null,
     key_id uuid,
     secret_hash bytea not null,
     expires_at timestamptz not null)`,
  `create index on stream_token (account_id)`,
  `create index on stream_token (expires_at)`,
];
