import { type Kysely, sql } from "kysely";
import type { SchemaChange } from "../schema-change.ts";

/**
 * Makes facts about a recording follow its media: the facts in the metadata of a job's transcript
 * apply until other media is set. The metadata of other transcripts contains no such facts. Those
 * transcripts are not updated, because the table is locked during the migration.
 */
export const mediaFacts: SchemaChange = {
  oldestProgram: "0.1.0",
  locks: { transcript: "calls" },
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of statements) await sql.raw(statement).execute(db);
  },
};

const statements = [
  `alter table transcript
     add recording_file_type text check (recording_file_type in ('AUDIO', 'VIDEO')),
     add media_was_replaced boolean not null default false,
     add file_type_is_declared boolean not null default false`,
  `update transcript t set media_was_replaced = true
     from upload u where u.transcript_id = t.id and u.media_id is not null
       and t.metadata ? 'recordingDuration'`,
];
