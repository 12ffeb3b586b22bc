import { type Kysely, sql } from "kysely";
import type { SchemaChange } from "../schema-change.ts";

/**
 * Adds the settings that a member or an API key keeps for the console, for example shortcut keys.
 * They are deleted with their owner. Takes milliseconds.
 */
export const consoleSettings: SchemaChange = {
  oldestProgram: "0.1.0",
  locks: { account: "writes", api_key: "writes", member: "writes" },
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of statements) await sql.raw(statement).execute(db);
  },
};

const statements = [
  `create table console_settings (
     account_id uuid not null references account on delete cascade,
     member_id uuid references member on delete cascade,
     api_key_id uuid references api_key on delete cascade,
     actor text primary key generated always as (coalesce(
       'members/' || member_id::text, 'apiKeys/' || api_key_id::text)) stored,
     settings text not null,
     updated_at timestamptz not null default now(),
     check (num_nonnulls(member_id, api_key_id) = 1))`,
  `create index on console_settings (account_id)`,
  `create index on console_settings (member_id) where member_id is not null`,
  `create index on console_settings (api_key_id) where api_key_id is not null`,
];
