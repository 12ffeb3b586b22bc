import { type Kysely, sql } from "kysely";
import type { SchemaChange } from "../schema-change.ts";

/**
 * The archive to which this database belongs, and the pulse, which is also written to the media
 * store. A row from a dump has a different xmin from the transaction that the row names. This
 * distinguishes a restored database from one that was only moved. A statement that rewrites the
 * table has to write both again.
 */
export const archiveIdentity: SchemaChange = {
  oldestProgram: "0.1.0",
  locks: {},
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of statements) await sql.raw(statement).execute(db);
  },
};

const statements = [
  `create table archive_identity (
     is_only boolean primary key default true check (is_only),
     id uuid not null,
     created_at timestamptz not null default now(),
     marked_at timestamptz,
     store text,
     folder text,
     quarantined_at timestamptz,
     written_by text not null,
     written_in text not null)`,
  `create table archive_pulse (
     is_only boolean primary key default true check (is_only),
     number bigint not null,
     nonce uuid not null,
     at timestamptz not null default now())`,
];
