import { type Kysely, sql } from "kysely";
import type { SchemaChange } from "../schema-change.ts";

/**
 * Requests for links that sign members in, which people make on the sign-in page, their limits, and
 * which mail was requested in this way. And an index of the audit log by actor.
 *
 * Reads all events once for the index: some seconds for a million.
 */
export const linkRequests: SchemaChange = {
  oldestProgram: "0.1.0",
  locks: { audit_event: "writes", invitation_mail: "calls" },
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of statements) await sql.raw(statement).execute(db);
  },
};

const statements = [
  `alter table invitation_mail add is_requested boolean not null default false`,
  `create table link_request (
     id uuid primary key,
     email text not null,
     language text not null check (language in ('is', 'en')),
     address text not null,
     request_id text not null,
     created_at timestamptz not null default now())`,
  `create index on link_request (created_at)`,
  `create table link_request_limit (
     key bytea primary key,
     full_at timestamptz not null)`,
  `create index on link_request_limit (full_at)`,
  `create index audit_event_actor on audit_event (account_id, actor, at desc, id desc)`,
];
