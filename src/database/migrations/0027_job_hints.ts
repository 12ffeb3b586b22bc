import { type Kysely, sql } from "kysely";
import type { Migration } from "kysely/migration";

/** Adds the hints of a job, which jobs of earlier versions do not have. Takes milliseconds. */
export const jobHints: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`alter table transcript_job add hints jsonb`.execute(db);
  },
};
