import { type Kysely, sql } from "kysely";
import type { SchemaChange } from "../schema-change.ts";

/**
 * Adds what an upload in several requests needs: the size of its media, the number of bytes that
 * have arrived, and the metadata that its client sent. Quick: no row is read.
 */
export const resumableUploads: SchemaChange = {
  oldestProgram: "0.1.0",
  locks: { upload: "calls" },
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of statements) await sql.raw(statement).execute(db);
  },
};

const statements = [
  `alter table upload
    add size_bytes bigint,
    add received_bytes bigint not null default 0,
    add client_metadata text not null default ''`,
  // The bytes of unfinished uploads count against the storage limit of their account.
  `create index on upload (account_id) include (received_bytes)
    where media_id is null and received_bytes > 0`,
];
