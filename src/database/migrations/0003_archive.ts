import { type Kysely, sql } from "kysely";
import type { SchemaChange } from "../schema-change.ts";
import { foldText } from "../../std/fold-text.ts";

/**
 * The archive: facts that are derived from media, retention, subjects folded by the service, and
 * heads with everything that lists show. The service folds subjects itself because the locale of an
 * external database may not support Unicode.
 */
export const archive: SchemaChange = {
  oldestProgram: "0.1.0",
  locks: { account: "calls", media: "calls", transcript: "calls", upload: "writes" },
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of statements) await sql.raw(statement).execute(db);
    await foldSubjects(db);
  },
};

const foldedAtOnce = 5_000;

/**
 * Folds the subjects that are not plain ASCII. Until now, subjects were the result of lower() in
 * the database, which leaves ß, ς and letters of two code points unchanged.
 */
async function foldSubjects(db: Kysely<unknown>): Promise<void> {
  let after = "00000000-0000-0000-0000-000000000000";
  for (;;) {
    const { rows } = await sql<{ id: string; text: string; subject: string }>`
      select id, metadata->>'subject' as text, subject from transcript
      where id > ${after} and octet_length(metadata->>'subject') > char_length(metadata->>'subject')
      order by id limit ${foldedAtOnce}`.execute(db);
    const last = rows.at(-1);
    if (!last) return;
    after = last.id;
    const changed = rows
      .map(({ id, text, subject }) => ({ id, subject, folded: foldText(text) }))
      .filter(({ subject, folded }) => folded !== subject);
    await sql`
      update transcript t set subject = folded.subject
      from unnest(${changed.map(({ id }) => id)}::uuid[], ${changed.map(({ folded }) => folded)}::text[])
        as folded (id, subject)
      where t.id = folded.id`.execute(db);
  }
}

const statements = [
  `alter table account
     add media_retention_days int check (media_retention_days > 0),
     add transcript_retention_days int check (transcript_retention_days > 0)`,
  `alter table media
     alter sha256 drop not null,
     add duration_ms int,
     add file_type text check (file_type in ('AUDIO', 'VIDEO')),
     add peaks_count int,
     add described_at timestamptz,
     add problem text`,
  `create table media_peaks (
     media_id uuid not null references media on delete cascade,
     number int not null,
     peaks bytea not null,
     primary key (media_id, number))`,
  `create table media_description (
     media_id uuid primary key references media on delete cascade,
     lease int not null default 0,
     tries smallint not null default 0,
     due_at timestamptz not null default now())`,
  `create index on media_description (due_at)`,
  `insert into media_description (media_id)
     select distinct media_id from transcript where media_id is not null`,
  `create index on media (account_id, created_at)`,
  `create index on upload (expires_at) where media_id is null`,
  `alter table transcript alter subject drop expression`,
  `alter table transcript add parent_version_id uuid`,
  `update transcript t set parent_version_id = v.parent_id from transcript_version v
     where v.id = t.version_id and v.parent_id is not null`,
  `alter table transcript add recording_ms int`,
  `create index on transcript (account_id, updated_at)`,
];
