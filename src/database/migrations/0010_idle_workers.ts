import { type Kysely, sql } from "kysely";
import type { Migration } from "kysely/migration";

/**
 * The idle workers. The table is unlogged: after a crash it is empty, and a second later it is
 * complete again.
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
