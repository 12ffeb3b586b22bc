import { type Kysely, sql } from "kysely";
import type { SchemaChange } from "../schema-change.ts";

/**
 * Adds to each version how it was made, by which member or key, and a note. Versions that exist get
 * the kind that is certain: first versions that of their source, and others `ALIGNED` if an
 * alignment job created them. Kinds fit their place by a constraint, so that they cannot become
 * inconsistent. Takes up to a minute for a million versions, during which calls of transcripts
 * wait.
 */
export const versionAuthors: SchemaChange = {
  oldestProgram: "0.1.0",
  locks: { transcript_version: "calls" },
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of statements) await sql.raw(statement).execute(db);
  },
};

const statements = [
  `alter table transcript_version
     add kind text,
     add author text not null default '',
     add note text not null default ''`,
  `update transcript_version
     set kind = case when metadata ->> 'dataSource' = 'USER' then 'IMPORTED' else 'RECOGNIZED' end
     where parent_id is null and metadata ->> 'dataSource' in ('USER', 'UPLOAD', 'URI')`,
  `update transcript_version v set kind = 'ALIGNED'
     from alignment_job j where j.created_version_id = v.id and v.parent_id is not null`,
  `alter table transcript_version
     add constraint transcript_version_kind check (
       case when parent_id is null then kind in ('RECOGNIZED', 'IMPORTED')
         else kind in ('EDITED', 'MERGED', 'RESTORED', 'ALIGNED') end),
     add constraint transcript_version_author check (
       author ~ '^((members|apiKeys|clientKeys)/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})?$')`,
];
