import { type Kysely, sql } from "kysely";
import type { SchemaChange } from "../schema-change.ts";

/**
 * Adds the place in a trace at which a job was submitted or a message to a webhook was caused; null
 * without tracing. Takes milliseconds.
 */
export const traceContext: SchemaChange = {
  oldestProgram: "0.1.0",
  locks: { transcript_job: "calls", webhook_delivery: "calls" },
  async up(db: Kysely<unknown>): Promise<void> {
    for (const table of ["transcript_job", "webhook_delivery"]) {
      await sql`alter table ${sql.table(table)} add traceparent text`.execute(db);
    }
  },
};
