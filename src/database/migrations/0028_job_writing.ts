import { type Kysely, sql } from "kysely";
import type { Migration } from "kysely/migration";

/** Adds how the text of a job is written, which earlier jobs do not have. Takes milliseconds. */
export const jobWriting: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`alter table transcript_job add writing jsonb`.execute(db);
  },
};
