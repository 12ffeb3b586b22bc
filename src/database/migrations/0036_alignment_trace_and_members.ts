import { type Kysely, sql } from "kysely";
import type { SchemaChange } from "../schema-change.ts";

/**
 * Adds the place in a trace at which an alignment job was submitted, and what usage by member
 * needs: the member who submitted a job, and the member to whom a day of use belongs. Takes
 * milliseconds: no row is written.
 */
export const alignmentTraceAndMembers: SchemaChange = {
  oldestProgram: "0.1.0",
  locks: { alignment_job: "calls", transcript_job: "calls", usage_day: "calls" },
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of statements) await sql.raw(statement).execute(db);
  },
};

const statements = [
  `alter table alignment_job add traceparent text`,
  `alter table transcript_job add member_id uuid`,
  `alter table usage_day add member_id uuid`,
];
