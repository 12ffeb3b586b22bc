import { type Kysely, sql } from "kysely";
import type { SchemaChange } from "../schema-change.ts";

/** Adds to accounts what the console proposes for new recordings, nothing at first. */
export const recordingDefaults: SchemaChange = {
  oldestProgram: "0.1.0",
  locks: { account: "calls" },
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`alter table account add recording_defaults jsonb`.execute(db);
  },
};
