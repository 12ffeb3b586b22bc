import { type Kysely, sql } from "kysely";
import type { SchemaChange } from "../schema-change.ts";

/**
 * The speakers of a window of a job's audio, stored as checkpoints of diarization in case the
 * worker dies.
 */
export const jobWindows: SchemaChange = {
  oldestProgram: "0.1.0",
  locks: { transcript_job: "writes" },
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`
      create table transcript_job_window (
        job_id uuid not null references transcript_job on delete cascade,
        number int not null,
        start_ms int not null,
        end_ms int not null,
        speakers jsonb not null,
        primary key (job_id, number))
    `.execute(db);
  },
};
