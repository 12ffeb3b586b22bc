import { type Kysely, sql } from "kysely";
import type { SchemaChange } from "../schema-change.ts";

/**
 * Records which jobs and transcripts change, for those who watch lists of them
 * (src/watches/change-feed.ts). Triggers write the record in the transaction of the change, so that
 * changes by nodes of an earlier version are recorded too. Records are deleted after ten minutes.
 * Takes milliseconds, whatever the number of rows.
 */
export const resourceChanges: SchemaChange = {
  oldestProgram: "0.1.0",
  locks: { media: "writes", transcript: "writes", transcript_job: "writes" },
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of statements) await sql.raw(statement).execute(db);
  },
};

const statements = [
  `create table resource_change (
     written_by xid8 not null default pg_current_xact_id(),
     kind text not null,
     account_id uuid not null,
     resource_id uuid not null,
     at timestamptz not null default now())`,
  `create index on resource_change (written_by)`,
  `create function record_change() returns trigger language plpgsql as $$
     begin
       insert into resource_change (kind, account_id, resource_id)
         values (tg_argv[0], coalesce(new.account_id, old.account_id), coalesce(new.id, old.id));
       return null;
     end $$`,
  `create function record_described_media() returns trigger language plpgsql as $$
     begin
       insert into resource_change (kind, account_id, resource_id)
         select 'transcript', account_id, id from transcript where media_id = new.id;
       return null;
     end $$`,
  `create trigger records_insert after insert on transcript_job
     for each row execute function record_change('job')`,
  `create trigger records_update after update on transcript_job
     for each row when ((old.state, old.progress_percent) is distinct from (new.state, new.progress_percent))
     execute function record_change('job')`,
  `create trigger records_insert after insert on transcript
     for each row execute function record_change('transcript')`,
  `create trigger records_update after update on transcript
     for each row when ((old.version_id, old.media_id, old.file_type_is_declared)
       is distinct from (new.version_id, new.media_id, new.file_type_is_declared))
     execute function record_change('transcript')`,
  `create trigger records_delete after delete on transcript
     for each row execute function record_change('transcript')`,
  `create trigger records_update after update on media
     for each row when ((old.duration_ms, old.file_type, old.peaks_count)
       is distinct from (new.duration_ms, new.file_type, new.peaks_count))
     execute function record_described_media()`,
];
