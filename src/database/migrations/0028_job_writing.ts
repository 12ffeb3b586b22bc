import { type Kysely, sql } from "kysely";
import type { SchemaChange } from "../schema-change.ts";

/** Adds how the text of a job is written, which earlier jobs do not have. Takes milliseconds. */
export const jobWriting: SchemaChange = {
  oldestProgram: "0.1.0",
  locks: { transcript_job: "calls" },
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`alter table transcript_job add writing jsonb`.execute(db);
  },
};
