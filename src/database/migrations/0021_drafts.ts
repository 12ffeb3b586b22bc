import { type Kysely, sql } from "kysely";
import type { SchemaChange } from "../schema-change.ts";

/**
 * Adds the drafts of members and keys. A draft is deleted with its transcript and with its owner.
 * Its content is not compressed by the database, because clients compress it. Takes milliseconds.
 */
export const drafts: SchemaChange = {
  oldestProgram: "0.1.0",
  locks: {
    account: "writes",
    api_key: "writes",
    client_key: "writes",
    member: "writes",
    transcript: "writes",
  },
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of statements) await sql.raw(statement).execute(db);
  },
};

const statements = [
  `create table transcript_draft (
     transcript_id uuid not null references transcript on delete cascade,
     account_id uuid not null references account on delete cascade,
     member_id uuid references member on delete cascade,
     api_key_id uuid references api_key on delete cascade,
     client_key_id uuid references client_key on delete cascade,
     actor text not null generated always as (coalesce(
       'members/' || member_id::text, 'apiKeys/' || api_key_id::text,
       'clientKeys/' || client_key_id::text)) stored,
     base_version_id uuid not null,
     content bytea not null,
     size_bytes int not null generated always as (octet_length(content)) stored,
     etag uuid not null,
     updated_at timestamptz not null default now(),
     primary key (transcript_id, actor),
     check (num_nonnulls(member_id, api_key_id, client_key_id) = 1))`,
  `alter table transcript_draft alter content set storage external`,
  `create index on transcript_draft (account_id) include (size_bytes)`,
  `create index on transcript_draft (member_id) where member_id is not null`,
  `create index on transcript_draft (api_key_id) where api_key_id is not null`,
  `create index on transcript_draft (client_key_id) where client_key_id is not null`,
  `create index on transcript_draft (updated_at)`,
];
