import { type Kysely, sql } from "kysely";
import type { SchemaChange } from "../schema-change.ts";

/**
 * Adds the holds of backups, during which no bytes of media are deleted, and the deletions that
 * they defer. Nodes of an earlier version delete regardless; a backup that misses media because of
 * that fails, and says so. Takes milliseconds.
 */
export const mediaHold: SchemaChange = {
  oldestProgram: "0.1.0",
  locks: {},
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of statements) await sql.raw(statement).execute(db);
  },
};

const statements = [
  `create table media_hold (
     id uuid primary key,
     held_until timestamptz not null)`,
  `create table deferred_deletion (
     media_id uuid primary key,
     deferred_at timestamptz not null default now())`,
];
