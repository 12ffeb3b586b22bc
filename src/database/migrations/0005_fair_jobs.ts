import { type Kysely, sql } from "kysely";
import type { SchemaChange } from "../schema-change.ts";

/**
 * The position of the queue while no job waits, and whether a job that ran alone has passed the
 * piece at which its worker died.
 */
export const fairJobs: SchemaChange = {
  oldestProgram: "0.1.0",
  locks: { transcript_job: "calls" },
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of statements) await sql.raw(statement).execute(db);
  },
};

const statements = [
  `create index on transcript_job (priority) where state = 'PROCESSING' and lease > 0`,
  `alter table transcript_job add is_cleared boolean not null default false`,
];
