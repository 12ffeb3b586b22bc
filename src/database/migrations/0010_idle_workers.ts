import { type Kysely, sql } from "kysely";
import type { Migration } from "kysely/migration";

/**
 * Which workers stand idle. Unlogged: after a crash nobody knows, and a second later everybody does
 * again.
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
