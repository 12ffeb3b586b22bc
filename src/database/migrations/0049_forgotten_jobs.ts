import { type Kysely, sql } from "kysely";
import type { SchemaChange } from "../schema-change.ts";

/**
 * Jobs keep nothing of a transcript that has been deleted: no title, keywords, URL or hints. A
 * trigger does so in the commit of the deletion, whatever deletes the transcript. The languages
 * and the kind of the file stay.
 *
 * Reads all jobs once for each index and once for jobs whose transcript is gone, and rewrites
 * those: a few seconds for a million.
 */
export const forgottenJobs: SchemaChange = {
  oldestProgram: "0.1.0",
  locks: { transcript: "writes", transcript_job: "writes" },
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of statements) await sql.raw(statement).execute(db);
  },
};

const hasEnded = `j.state in ('SUCCESS', 'ERROR', 'CANCELLED')`;
/** Names and texts of users can be in every other field of the metadata. */
const forgotten = `
  metadata = jsonb_strip_nulls(jsonb_build_object(
    'languageCode', j.metadata -> 'languageCode', 'fileType', j.metadata -> 'fileType')),
  subject = '', keywords = '{}', media_uri = null, hints = null,
  error = case when j.error is null then null
    else jsonb_build_object('code', j.error -> 'code', 'message', 'the transcript was deleted') end`;

const statements = [
  `create index transcript_job_transcript on transcript_job (transcript_id)
     where transcript_id is not null`,
  `create index transcript_job_new_version on transcript_job (new_version_of)
     where new_version_of is not null`,
  `create function forget_jobs() returns trigger language plpgsql as $$
     begin
       update transcript_job j set ${forgotten} from deleted
         where j.transcript_id = deleted.id and ${hasEnded};
       update transcript_job j set ${forgotten} from deleted
         where j.new_version_of = deleted.id and ${hasEnded};
       return null;
     end $$`,
  `create trigger forgets_jobs after delete on transcript referencing old table as deleted
     for each statement execute function forget_jobs()`,
  `update transcript_job j set ${forgotten}
     where ${hasEnded} and coalesce(j.transcript_id, j.new_version_of) is not null
       and not exists (select from transcript t where t.id = coalesce(j.transcript_id, j.new_version_of))`,
];
