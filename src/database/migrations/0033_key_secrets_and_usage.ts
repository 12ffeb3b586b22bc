import { type Kysely, sql } from "kysely";
import type { SchemaChange } from "../schema-change.ts";

/**
 * Adds the previous secret of API keys, and the calls of the console, which were not counted apart
 * until now. Takes milliseconds: no row is written.
 */
export const keySecretsAndUsage: SchemaChange = {
  oldestProgram: "0.1.0",
  locks: { api_key: "calls", usage_day: "calls" },
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of statements) await sql.raw(statement).execute(db);
  },
};

const statements = [
  `alter table api_key
     add previous_secret_hash bytea,
     add previous_secret_until timestamptz`,
  `alter table usage_day add console_requests bigint not null default 0`,
];
