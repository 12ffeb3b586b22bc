import { type Kysely, sql } from "kysely";
import type { SchemaChange } from "../schema-change.ts";

/**
 * Adds the transcript that gets a new version from a job, which may have been deleted since. Later
 * versions can be `RECOGNIZED`: the constraint of their kinds is replaced by a wider one. Takes
 * about a second for a million versions, which are read, and writes no row.
 */
export const newVersionJobs: SchemaChange = {
  oldestProgram: "0.1.0",
  locks: { transcript_job: "calls", transcript_version: "calls" },
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of statements) await sql.raw(statement).execute(db);
  },
};

const statements = [
  `alter table transcript_job add new_version_of uuid`,
  `alter table transcript_version
     drop constraint transcript_version_kind,
     add constraint transcript_version_kind check (
       case when parent_id is null then kind in ('RECOGNIZED', 'IMPORTED')
         else kind in ('EDITED', 'MERGED', 'RESTORED', 'ALIGNED', 'RECOGNIZED') end)`,
];
