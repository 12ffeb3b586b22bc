import { type Kysely, sql } from "kysely";
import type { SchemaChange } from "../schema-change.ts";

/** Adds to jobs the model of the request, the model that is used, and the number of speakers. */
export const jobModelAndSpeakers: SchemaChange = {
  oldestProgram: "0.1.0",
  locks: { transcript_job: "calls" },
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`
      alter table transcript_job add model text, add used_model text, add speakers_max int`.execute(
      db,
    );
  },
};
