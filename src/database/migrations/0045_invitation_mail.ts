import { type Kysely, sql } from "kysely";
import type { SchemaChange } from "../schema-change.ts";

/** The mail with links that sign members in. */
export const invitationMail: SchemaChange = {
  oldestProgram: "0.1.0",
  locks: { account: "writes", member: "writes" },
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of statements) await sql.raw(statement).execute(db);
  },
};

// Rows outlive their member, because they count against the limits of the account.
const statements = [
  `create table invitation_mail (
     id uuid primary key,
     account_id uuid not null references account on delete cascade,
     member_id uuid references member on delete set null,
     email text not null,
     language text not null check (language in ('is', 'en')),
     inviter text not null,
     state text not null default 'PENDING'
       check (state in ('PENDING', 'SENT', 'FAILED', 'CANCELED')),
     tries int not null default 0,
     unnoted int not null default 0,
     lease int not null default 0,
     due_at timestamptz not null default now(),
     give_up_at timestamptz not null default now() + interval '24 hours',
     last_attempt_at timestamptz,
     problem text,
     response text,
     created_at timestamptz not null default now())`,
  `create index on invitation_mail (account_id, created_at)`,
  `create index on invitation_mail (member_id, created_at)`,
  `create index on invitation_mail (due_at) where state = 'PENDING'`,
  `create index on invitation_mail (created_at)`,
];
