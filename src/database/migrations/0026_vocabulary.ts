import { type Kysely, sql } from "kysely";
import type { SchemaChange } from "../schema-change.ts";

/**
 * Adds the vocabularies of accounts, which are empty at first. The revision of a vocabulary changes
 * with its active phrases, and its row is locked during a change. Takes milliseconds: columns with
 * a constant default rewrite no table.
 */
export const vocabulary: SchemaChange = {
  oldestProgram: "0.1.0",
  locks: { account: "calls", transcript_job: "calls" },
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of statements) await sql.raw(statement).execute(db);
  },
};

const statements = [
  `create table vocabulary (
     account_id uuid primary key references account on delete cascade,
     revision bigint not null)`,
  `create table vocabulary_phrase (
     id uuid primary key,
     account_id uuid not null references account on delete cascade,
     language_code text not null,
     phrase text not null,
     folded text not null,
     weight real not null,
     sounds_like text[] not null,
     source text not null check (source in ('USER', 'EDITOR', 'IMPORT')),
     state text not null check (state in ('ACTIVE', 'CANDIDATE', 'REJECTED')),
     correction_count int not null default 0,
     created_at timestamptz not null default now(),
     updated_at timestamptz not null default now(),
     unique (account_id, language_code, folded))`,
  `create index on vocabulary_phrase (account_id, folded, id)`,
  `create index on vocabulary_phrase
     (account_id, state, language_code, weight desc, updated_at desc, id)`,
  `alter table account add vocabulary_candidates_disabled boolean not null default false`,
  `alter table transcript_job add ignores_vocabulary boolean not null default false`,
];
