import { type Kysely, sql } from "kysely";
import type { SchemaChange } from "../schema-change.ts";

/** Adds the shares of transcripts. A share is deleted with its transcript. Takes milliseconds. */
export const shares: SchemaChange = {
  oldestProgram: "0.1.0",
  locks: { account: "writes", transcript: "writes" },
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of statements) await sql.raw(statement).execute(db);
  },
};

const statements = [
  `create table transcript_share (
     id uuid primary key,
     transcript_id uuid not null references transcript on delete cascade,
     account_id uuid not null references account on delete cascade,
     secret_hash bytea not null,
     version_id uuid,
     with_media boolean not null,
     note text not null,
     author text not null,
     created_at timestamptz not null,
     expires_at timestamptz not null,
     last_read_at timestamptz)`,
  `create index on transcript_share (transcript_id, id desc)`,
  `create index on transcript_share (account_id)`,
  `create index on transcript_share (expires_at)`,
];
