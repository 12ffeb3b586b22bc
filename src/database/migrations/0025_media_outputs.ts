import { type Kysely, sql } from "kysely";
import type { SchemaChange } from "../schema-change.ts";

/**
 * Adds the outputs of models for media, which alignment jobs read. They are deleted with the media.
 * Media of earlier versions has none. Takes milliseconds.
 */
export const mediaOutputs: SchemaChange = {
  oldestProgram: "0.1.0",
  locks: { media: "writes" },
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of statements) await sql.raw(statement).execute(db);
  },
};

const statements = [
  `create table media_outputs (
     media_id uuid not null references media on delete cascade,
     number int not null,
     start_ms int not null,
     end_ms int not null,
     model text not null,
     outputs bytea not null,
     sha256 bytea not null,
     primary key (media_id, number))`,
  // The outputs are compact already.
  `alter table media_outputs alter outputs set storage external`,
];
