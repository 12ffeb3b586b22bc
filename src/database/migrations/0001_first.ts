import { sql, type Kysely } from "kysely";
import type { SchemaChange } from "../schema-change.ts";

/**
 * The entire first schema. The trigram and btree_gin indexes serve the two filters of §4.3 within
 * one account (measured with a million transcripts). `subject` is the result of lower() in a
 * database whose locale provider supports Unicode, so that ÞÁ finds þá.
 */
export const first: SchemaChange = {
  oldestProgram: "0.1.0",
  locks: {},
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of statements) await sql.raw(statement).execute(db);
  },
};

const statements = [
  `create extension if not exists pg_trgm`,
  `create extension if not exists btree_gin`,
  `create table account (
     id uuid primary key,
     display_name text not null,
     created_at timestamptz not null default now())`,
  `create table api_key (
     id uuid primary key,
     account_id uuid not null references account on delete cascade,
     display_name text not null,
     scopes text[] not null,
     secret_hash bytea not null,
     created_at timestamptz not null default now(),
     expires_at timestamptz,
     last_used_at timestamptz)`,
  `create index on api_key (account_id, created_at desc)`,
  `create table client_key (
     id uuid primary key,
     account_id uuid not null references account on delete cascade,
     client_id text not null,
     display_name text not null,
     scopes text[] not null,
     algorithm text not null,
     public_key jsonb not null,
     created_at timestamptz not null default now(),
     last_used_at timestamptz)`,
  `create index on client_key (account_id, created_at desc)`,
  `create table signing_key (name text primary key, secret bytea not null)`,
  `create table media (
     id uuid primary key,
     account_id uuid not null references account on delete cascade,
     size_bytes bigint not null,
     sha256 bytea not null,
     content_type text not null,
     created_at timestamptz not null default now())`,
  `create table transcript (
     id uuid primary key,
     account_id uuid not null references account on delete cascade,
     version_id uuid not null,
     metadata jsonb not null,
     subject text not null generated always as (lower(coalesce(metadata->>'subject', ''))) stored,
     keywords text[] not null,
     media_id uuid references media,
     created_at timestamptz not null default now(),
     updated_at timestamptz not null default now())`,
  `create index on transcript (account_id, created_at desc, id desc)`,
  `create index on transcript using gin (account_id, subject gin_trgm_ops)`,
  `create index on transcript using gin (account_id, keywords)`,
  `create index on transcript (media_id) where media_id is not null`,
  `create table transcript_segments (
     transcript_id uuid not null references transcript on delete cascade,
     sha256 bytea not null,
     json_zstd bytea not null,
     json_bytes int not null,
     primary key (transcript_id, sha256))`,
  `alter table transcript_segments alter json_zstd set storage external`,
  `create table transcript_version (
     id uuid primary key,
     transcript_id uuid not null references transcript on delete cascade,
     parent_id uuid,
     metadata jsonb not null,
     segments_sha256 bytea not null,
     created_at timestamptz not null default now(),
     foreign key (transcript_id, segments_sha256) references transcript_segments (transcript_id, sha256))`,
  `create index on transcript_version (transcript_id, created_at desc, id desc)`,
  `create table upload (
     id uuid primary key,
     account_id uuid not null references account on delete cascade,
     transcript_id uuid references transcript on delete cascade,
     expires_at timestamptz not null,
     created_at timestamptz not null default now(),
     media_id uuid references media)`,
  `create index on upload (transcript_id) where transcript_id is not null`,
  `create index on upload (media_id) where media_id is not null`,
  `create table transcript_job (
     id uuid primary key,
     account_id uuid not null references account on delete cascade,
     state text not null check (state in ('PROCESSING', 'SUCCESS', 'FAILED')),
     progress_percent smallint not null default 0 check (progress_percent between 0 and 100),
     priority int not null default 0,
     lease int not null default 0,
     tries smallint not null default 0,
     metadata jsonb not null,
     media_uri text,
     upload_id uuid references upload on delete set null,
     media_id uuid references media,
     duration_ms int,
     transcript_id uuid,
     error jsonb,
     idempotency_key text,
     request_sha256 bytea,
     started_at timestamptz not null default now(),
     updated_at timestamptz not null default now(),
     unique (account_id, idempotency_key))`,
  `create index on transcript_job (account_id, started_at desc, id desc)`,
  `create index on transcript_job (upload_id) where upload_id is not null`,
  `create index on transcript_job (account_id, priority) where state = 'PROCESSING'`,
  `create index on transcript_job (priority) where state = 'PROCESSING' and lease = 0`,
  `create index on transcript_job (media_id) where media_id is not null`,
  `create table transcript_job_piece (
     job_id uuid not null references transcript_job on delete cascade,
     piece int not null,
     start_ms int not null,
     end_ms int not null,
     segments jsonb not null,
     primary key (job_id, piece))`,
];
