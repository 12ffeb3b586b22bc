import { type Kysely, sql } from "kysely";
import type { SchemaChange } from "../schema-change.ts";

/**
 * Prepares jobs whose content arrives after they were submitted, and uploads whose bytes arrive in
 * several calls:
 *
 * - a job may be WAITING_FOR_CONTENT, and has the id of its later transcript from the start;
 * - an upload has the call that writes its bytes (src/media/hold-upload.ts);
 * - media has the name of the file that was uploaded to a transcript.
 *
 * The columns have constant defaults. Checking the state reads all jobs: less than a second for a
 * million.
 */
export const content: SchemaChange = {
  oldestProgram: "0.1.0",
  locks: { media: "calls", transcript_job: "calls", upload: "calls" },
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of statements) await sql.raw(statement).execute(db);
  },
};

const statements = [
  `alter table upload
     add writer uuid,
     add holder uuid,
     add held_until timestamptz`,
  `alter table media add file_name text not null default ''`,
  `alter table transcript_job
     add content_transcript_id uuid,
     drop constraint transcript_job_state_check,
     add constraint transcript_job_state_check
       check (state in ('WAITING_FOR_CONTENT', 'PROCESSING', 'SUCCESS', 'ERROR', 'CANCELLED'))`,
  `create unique index transcript_job_content on transcript_job (content_transcript_id)
     where content_transcript_id is not null`,
  `create index transcript_job_waiting on transcript_job (account_id) include (key_id)
     where state = 'WAITING_FOR_CONTENT'`,
];
