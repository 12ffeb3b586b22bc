import { type Kysely, sql } from "kysely";
import type { SchemaChange } from "../schema-change.ts";

/**
 * Adds the members who may manage the whole service, none at first, and the nodes that run it.
 * Takes milliseconds: no row is written.
 */
export const operatorsAndNodes: SchemaChange = {
  oldestProgram: "0.1.0",
  locks: { member: "calls" },
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of statements) await sql.raw(statement).execute(db);
  },
};

const statements = [
  `alter table member add is_operator boolean not null default false`,
  // A row is written every few seconds and lost without harm, hence unlogged: a crash of the
  // database empties the table, and each node writes its row again.
  `create unlogged table node (
    id uuid primary key,
    started_at timestamptz not null default now(),
    seen_at timestamptz not null default now(),
    status jsonb not null)`,
];
