import { type Kysely, sql } from "kysely";
import type { SchemaChange } from "../schema-change.ts";

/**
 * Adds the bin, and indexes for filters by language and by speaker.
 *
 * A transcript in the bin has no `account_id`: every statement that looks for the transcripts of an
 * account, also of earlier versions, finds it no more. `bin_account_id` has the account instead.
 * The functions that record changes skip rows without an account.
 *
 * Reads the table once for the constraint and once for each index, and writes no row: about ten
 * seconds for a million transcripts.
 */
export const binAndFilters: SchemaChange = {
  oldestProgram: "0.1.0",
  locks: { account: "writes", transcript: "calls" },
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of statements) await sql.raw(statement).execute(db);
  },
};

const statements = [
  `alter table transcript
     alter account_id drop not null,
     add bin_account_id uuid references account on delete cascade,
     add binned_at timestamptz,
     add binned_by text,
     add constraint transcript_bin check (
       num_nonnulls(account_id, bin_account_id) = 1
       and num_nonnulls(bin_account_id, binned_at, binned_by) in (0, 3))`,
  `create index transcript_listed_in_bin on transcript (bin_account_id, binned_at, id)
     where bin_account_id is not null`,
  `create index transcript_binned_at on transcript (binned_at) where binned_at is not null`,
  `create index transcript_by_language on transcript
     (account_id, lower(metadata ->> 'languageCode'))`,
  `create index transcript_by_speaker on transcript
     using gin (account_id, jsonb_path_query_array(metadata, '$.speakers.*.fullName'))`,
  `create or replace function record_change() returns trigger language plpgsql as $$
     begin
       insert into resource_change (kind, account_id, resource_id)
         select tg_argv[0], changed.account_id, coalesce(new.id, old.id)
         from (select coalesce(new.account_id, old.account_id) as account_id) as changed
         where changed.account_id is not null;
       return null;
     end $$`,
  `create or replace function record_described_media() returns trigger language plpgsql as $$
     begin
       insert into resource_change (kind, account_id, resource_id)
         select 'transcript', account_id, id from transcript
         where media_id = new.id and account_id is not null;
       return null;
     end $$`,
  `drop trigger records_update on transcript`,
  `create trigger records_update after update on transcript
     for each row when ((old.account_id, old.version_id, old.media_id, old.file_type_is_declared)
       is distinct from (new.account_id, new.version_id, new.media_id, new.file_type_is_declared))
     execute function record_change('transcript')`,
];
