import { type Kysely, sql } from "kysely";
import type { SchemaChange } from "../schema-change.ts";

/**
 * Adds the ranges of transcripts that people have checked or listened to, and the participants: who
 * has a transcript open. Triggers record their changes, as those of migration 0019 do. Takes
 * milliseconds, whatever the number of rows.
 */
export const reviewAndPresence: SchemaChange = {
  oldestProgram: "0.1.0",
  locks: { account: "writes", transcript: "writes" },
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of statements) await sql.raw(statement).execute(db);
  },
};

const statements = [
  `create table transcript_review (
     transcript_id uuid primary key references transcript on delete cascade,
     account_id uuid not null references account on delete cascade,
     etag uuid not null)`,
  `create index on transcript_review (account_id)`,
  `create table transcript_review_range (
     transcript_id uuid not null references transcript_review on delete cascade,
     kind text not null check (kind in ('CHECKED', 'LISTENED')),
     author text not null,
     start_ns bigint not null,
     end_ns bigint not null,
     updated_at timestamptz not null default now(),
     primary key (transcript_id, kind, author, start_ns),
     check (0 <= start_ns and start_ns < end_ns and end_ns <= 3600000000000000))`,
  `create table transcript_participant (
     transcript_id uuid not null references transcript on delete cascade,
     account_id uuid not null references account on delete cascade,
     actor text not null,
     session text not null,
     is_editing boolean not null,
     position_ns bigint,
     updated_at timestamptz not null default now(),
     expires_at timestamptz not null,
     primary key (transcript_id, actor, session))`,
  `create index on transcript_participant (account_id)`,
  `create index on transcript_participant (expires_at)`,
  `create function record_activity() returns trigger language plpgsql as $$
     begin
       insert into resource_change (kind, account_id, resource_id) values ('activity',
         coalesce(new.account_id, old.account_id), coalesce(new.transcript_id, old.transcript_id));
       return null;
     end $$`,
  `create trigger records_insert after insert on transcript_review
     for each row execute function record_activity()`,
  `create trigger records_update after update on transcript_review
     for each row when (old.etag is distinct from new.etag) execute function record_activity()`,
  `create trigger records_change after insert or update or delete on transcript_participant
     for each row execute function record_activity()`,
];
