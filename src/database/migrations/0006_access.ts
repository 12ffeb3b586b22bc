import { type Kysely, sql } from "kysely";
import type { SchemaChange } from "../schema-change.ts";

/** The members of an account, limits, and the audit log. */
export const access: SchemaChange = {
  oldestProgram: "0.1.0",
  locks: { account: "calls", api_key: "calls", client_key: "calls" },
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of statements) await sql.raw(statement).execute(db);
  },
};

const statements = [
  `alter table account
     add disabled_at timestamptz,
     add limits jsonb not null default '{}'`,
  `alter table api_key
     add limits jsonb not null default '{}',
     add creator text not null default ''`,
  `alter table client_key
     add expires_at timestamptz,
     add limits jsonb not null default '{}',
     add creator text not null default ''`,
  `create table member (
     id uuid primary key,
     account_id uuid not null references account on delete cascade,
     email text not null,
     display_name text not null,
     role text not null check (role in ('OWNER', 'MEMBER', 'VIEWER')),
     issuer text,
     subject text,
     created_at timestamptz not null default now(),
     last_sign_in_at timestamptz)`,
  `create unique index on member (account_id, lower(email))`,
  `create index on member (lower(email))`,
  `create unique index on member (account_id, issuer, subject)`,
  `create index on member (issuer, subject) where subject is not null`,
  `create table audit_event (
     id uuid primary key,
     account_id uuid not null,
     at timestamptz not null default clock_timestamp(),
     actor text not null,
     action text not null,
     resource text not null,
     outcome text not null check (outcome in ('OK', 'REFUSED')),
     address text not null,
     request_id text not null,
     details jsonb not null)`,
  `create index on audit_event (account_id, at desc, id desc)`,
  `create function refuse_change_of_audit() returns trigger language plpgsql as $$
     begin raise exception 'the audit log only grows'; end $$`,
  `create trigger only_grows before update or delete on audit_event
     for each row execute function refuse_change_of_audit()`,
  `create trigger stays before truncate on audit_event
     for each statement execute function refuse_change_of_audit()`,
];
