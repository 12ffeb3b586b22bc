import { type Kysely, sql } from "kysely";
import type { SchemaChange } from "../schema-change.ts";

/** Adds the hints of a job, which jobs of earlier versions do not have. Takes milliseconds. */
export const jobHints: SchemaChange = {
  oldestProgram: "0.1.0",
  locks: { transcript_job: "calls" },
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`alter table transcript_job add hints jsonb`.execute(db);
  },
};
