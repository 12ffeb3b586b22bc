import { type Kysely, sql } from "kysely";
import type { SchemaChange } from "../schema-change.ts";

/**
 * The idle workers. The table is unlogged: after a crash it is empty, and a second later it is
 * complete again.
 */
export const idleWorkers: SchemaChange = {
  oldestProgram: "0.1.0",
  locks: {},
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of statements) await sql.raw(statement).execute(db);
  },
};

const statements = [
  `create unlogged table idle_worker (
     id uuid primary key,
     wanted int not null,
     seen_at timestamptz not null) with (fillfactor = 50)`,
];
