import { type Kysely, sql } from "kysely";
import type { Migration } from "kysely/migration";

/**
 * The idle workers. Unlogged: after a crash the table is empty, and a second later complete again.
 */
export const idleWorkers: Migration = {
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
