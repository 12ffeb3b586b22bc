import { toJsonString } from "@bufbuild/protobuf";
import { sql, type Kysely, type RawBuilder, type Transaction } from "kysely";
import { openIn } from "../database/lease.ts";
import type { Tables } from "../database/tables.ts";
import type { Hint } from "../engines/protocol/engine.ts";
import {
  TranscriptMetadataSchema,
  type TranscriptMetadata,
} from "../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { foldText } from "../std/fold-text.ts";
import type { WritingChoice } from "../writing/write-words.ts";
import { cancelledStatus } from "./job-failure.ts";
import { jobColumns, jobOf, type StoredJob } from "./stored-job.ts";
import { failRow } from "./worker/end-jobs.ts";

export interface NewJob {
  readonly id: string;
  readonly accountId: string;
  /** The key that submits the job; null if a member submits it. */
  readonly keyId: string | null;
  /** The member who submits the job; null if a key submits it. */
  readonly memberId: string | null;
  readonly metadata: TranscriptMetadata;
  readonly source: JobSource;
  readonly hints: readonly Hint[];
  /** Whether its recognition ignores the vocabulary of the account. */
  readonly ignoresVocabulary: boolean;
  /** How its text is written; undefined for the words as they are. */
  readonly writing: WritingChoice | undefined;
  /** The model that recognizes the media; null for the one that serves the language. */
  readonly model: string | null;
  /** The maximum number of speakers; 0: none are distinguished; null: any number. */
  readonly speakersMax: number | null;
  readonly idempotencyKey: string | null;
  readonly requestSha256: Buffer | null;
  /** The place in a trace at which it is submitted; undefined without tracing. */
  readonly traceparent: string | undefined;
  readonly now: Date;
}

/**
 * The source of the media: a URL, a finished upload, the media of a transcript that gets a new
 * version, or an upload for content that follows.
 */
export type JobSource =
  | { readonly uri: string }
  | { readonly newVersionOf: string; readonly mediaId: string }
  | { readonly uploadId: string; readonly mediaId: string }
  | {
      readonly uploadId: string;
      /** The id that the transcript will have. */
      readonly contentTranscriptId: string;
    };

/** The lowest turn. Turns decrease, and begin again at 0 once no jobs are left. */
export const turnMin = -2_000_000_000;

/**
 * The number of jobs searched for the place that the queue serves: more than all workers run
 * concurrently. Without this limit each submit would read all jobs that were leased before.
 */
const searchedMax = 1_000;
const nextInTurn = sql`(select priority, lease from transcript_job where state = 'PROCESSING'
  order by priority desc, id limit ${sql.lit(searchedMax)}) as next`;

/**
 * The turn of a job of this account that is submitted now. Jobs that are inserted with it take the
 * following turns.
 */
export const turnOf = (accountId: RawBuilder<unknown>): RawBuilder<number> => sql<number>`least(
  coalesce(
    (select priority from ${nextInTurn} where lease = 0 limit 1),
    (select min(priority) from ${nextInTurn})),
  (select min(priority) - 1 from transcript_job where state = 'PROCESSING' and account_id = ${accountId}),
  0)`;

/**
 * Inserts jobs with their turns among the waiting jobs. Returns the ids of the inserted jobs; a job
 * with an idempotency key that the account has already used is not inserted. Turns are fair between
 * accounts (start-time fair queueing): a job comes after the other jobs of its account, but never
 * before the place that the queue currently serves. That place is the turn of the next job, or of
 * the last one leased. The first job of an account therefore comes next, regardless of how many
 * jobs of another account wait. A job that is released or attempted again keeps its turn.
 */
export async function insertJobs(
  trx: Transaction<Tables>,
  jobs: readonly NewJob[],
): Promise<Set<string>> {
  if (jobs.length === 0) return new Set();
  const column = <T>(of: (job: NewJob) => T): T[] => jobs.map(of);
  const { rows } = await sql<{ id: string }>`
    insert into transcript_job (id, account_id, key_id, member_id, state, priority, metadata, subject, keywords, media_uri, upload_id, media_id,
      content_transcript_id, new_version_of, idempotency_key, request_sha256, hints, ignores_vocabulary, writing, model, speakers_max, traceparent, started_at, updated_at)
    select job.id, job.account_id, job.key_id, job.member_id,
      case when job.content_transcript_id is null then 'PROCESSING' else 'WAITING_FOR_CONTENT' end,
      greatest(${turnMin}::int, ${turnOf(sql`job.account_id`)} + 1 - row_number() over (partition by job.account_id order by job.place)),
      job.metadata::jsonb, job.subject, array(select jsonb_array_elements_text(job.keywords)), job.media_uri, job.upload_id, job.media_id, job.content_transcript_id, job.new_version_of, job.idempotency_key, job.request_sha256, job.hints, job.ignores_vocabulary, job.writing, job.model, job.speakers_max, job.traceparent,
      job.started_at, job.started_at
    from unnest(
        ${column(({ id }) => id)}::uuid[],
        ${column(({ accountId }) => accountId)}::uuid[],
        ${column(({ keyId }) => keyId)}::uuid[],
        ${column(({ memberId }) => memberId)}::uuid[],
        ${column(({ metadata }) => toJsonString(TranscriptMetadataSchema, metadata))}::text[],
        ${column(({ metadata }) => foldText(metadata.subject))}::text[],
        ${column(({ metadata }) => JSON.stringify(metadata.keywords))}::jsonb[],
        ${column(({ source }) => ("uri" in source ? source.uri : null))}::text[],
        ${column(({ source }) => ("uploadId" in source ? source.uploadId : null))}::uuid[],
        ${column(({ source }) => ("mediaId" in source ? source.mediaId : null))}::uuid[],
        ${column(({ source }) => ("contentTranscriptId" in source ? source.contentTranscriptId : null))}::uuid[],
        ${column(({ source }) => ("newVersionOf" in source ? source.newVersionOf : null))}::uuid[],
        ${column(({ idempotencyKey }) => idempotencyKey)}::text[],
        ${column(({ requestSha256 }) => requestSha256)}::bytea[],
        ${column(({ hints }) => (hints.length > 0 ? JSON.stringify(hints) : null))}::jsonb[],
        ${column(({ ignoresVocabulary }) => ignoresVocabulary)}::boolean[],
        ${column(({ writing }) => (writing ? JSON.stringify(writing) : null))}::jsonb[],
        ${column(({ model }) => model)}::text[],
        ${column(({ speakersMax }) => speakersMax)}::int[],
        ${column(({ traceparent }) => traceparent ?? null)}::text[],
        ${column(({ now }) => now)}::timestamptz[])
      with ordinality as job (id, account_id, key_id, member_id, metadata, subject, keywords, media_uri, upload_id, media_id,
        content_transcript_id, new_version_of, idempotency_key, request_sha256, hints, ignores_vocabulary, writing, model, speakers_max, traceparent, started_at, place)
    on conflict (account_id, idempotency_key) do nothing
    returning id
  `.execute(trx);
  return new Set(rows.map(({ id }) => id));
}

/**
 * Returns the number of unfinished jobs of each account, including alignment jobs. No other
 * transaction can insert a job of these accounts until this one ends, since all inserts call this
 * function first.
 */
export async function lockJobCounts(
  trx: Transaction<Tables>,
  accountIds: readonly string[],
): Promise<Map<string, number>> {
  await trx
    .selectFrom("account")
    .where("id", "in", accountIds)
    .orderBy("id")
    .select("id")
    .forNoKeyUpdate()
    .execute();
  const { rows } = await sql<{ account_id: string; count: number }>`
    select account_id, count(*)::int as count
    from (${unfinishedOf(accountIds)}) as job group by account_id
  `.execute(trx);
  return new Map(rows.map(({ account_id, count }) => [account_id, count]));
}

/**
 * Returns the number of unfinished jobs that were submitted with each of these keys, which belong
 * to these accounts. The counts are exact under lockJobCounts().
 */
export async function countJobsOfKeys(
  trx: Transaction<Tables>,
  accountIds: readonly string[],
  keyIds: readonly string[],
): Promise<Map<string, number>> {
  if (keyIds.length === 0) return new Map();
  const { rows } = await sql<{ key_id: string; count: number }>`
    select key_id, count(*)::int as count
    from (${unfinishedOf(accountIds)}) as job where key_id = any (${[...keyIds]}::uuid[]) group by key_id
  `.execute(trx);
  return new Map(rows.map(({ key_id, count }) => [key_id, count]));
}

/** Selects the unfinished jobs of these accounts, including alignment jobs. */
function unfinishedOf(accountIds: readonly string[]): RawBuilder<unknown> {
  const ofAccounts = sql`account_id = any (${[...accountIds]}::uuid[])`;
  return sql`
    select account_id, key_id from transcript_job where ${ofAccounts} and ${openIn.transcript_job}
    union all
    select account_id, key_id from transcript_job where ${ofAccounts} and state = 'WAITING_FOR_CONTENT'
    union all
    select account_id, key_id from alignment_job where ${ofAccounts} and ${openIn.alignment_job}`;
}

/** Returns the job; undefined if the account has no such job. */
export async function findJob(
  db: Kysely<Tables>,
  accountId: string,
  id: string,
): Promise<StoredJob | undefined> {
  const row = await db
    .selectFrom("transcript_job")
    .where("id", "=", id)
    .where("account_id", "=", accountId)
    .select(jobColumns)
    .executeTakeFirst();
  return row && jobOf(row);
}

/**
 * The state of a job that a watcher knows; only the id if the watcher has not seen the job yet.
 */
export type KnownJob = Pick<StoredJob, "id"> &
  Partial<Pick<StoredJob, "state" | "progressPercent">>;

/** The columns that a poll reads: a job without its metadata, which may be long. */
export interface SeenJob extends Pick<StoredJob, "id" | "accountId" | "state" | "progressPercent"> {
  /** The length in bytes of the stored metadata. */
  readonly metadataBytes: number;
}

/**
 * Returns the jobs with a state or progress that differs from the known one; undefined for a job
 * that does not exist. Uses one statement.
 */
export async function findChangedJobs(
  db: Kysely<Tables>,
  known: readonly KnownJob[],
): Promise<Map<string, SeenJob | undefined>> {
  const ids = known.map(({ id }) => id);
  const states = known.map(({ state }) => state ?? null);
  const percents = known.map(({ progressPercent }) => progressPercent ?? null);
  const { rows } = await sql<{ known_id: string; seen: SeenJob | null }>`
    select known.id as known_id, case when job.id is not null then jsonb_build_object(
      'id', job.id, 'accountId', job.account_id, 'state', job.state, 'progressPercent', job.progress_percent,
      'metadataBytes', octet_length(job.metadata::text)) end as seen
    from unnest(${ids}::uuid[], ${states}::text[], ${percents}::int[])
      as known (id, state, progress_percent)
    left join transcript_job as job on job.id = known.id
    where job.id is null
      or (job.state, job.progress_percent) is distinct from (known.state, known.progress_percent)
  `.execute(db);
  return new Map(rows.map(({ known_id, seen }) => [known_id, seen ?? undefined]));
}

/** Returns these jobs in this order; undefined for a job that does not exist. */
export async function findJobs(
  db: Kysely<Tables>,
  ids: readonly string[],
): Promise<(StoredJob | undefined)[]> {
  const rows = await db
    .selectFrom("transcript_job")
    .where(sql<boolean>`id = any(${[...ids]}::uuid[])`)
    .select(jobColumns)
    .execute();
  const jobs = new Map(rows.map((row) => [row.id, jobOf(row)]));
  return ids.map((id) => jobs.get(id));
}

/** Returns the job of an idempotency key, with the hash of its request. */
export async function findJobOfKey(
  db: Kysely<Tables>,
  accountId: string,
  key: string,
): Promise<{ job: StoredJob; requestSha256: Buffer | null } | undefined> {
  const row = await db
    .selectFrom("transcript_job")
    .where("account_id", "=", accountId)
    .where("idempotency_key", "=", key)
    .select([...jobColumns, "request_sha256"])
    .executeTakeFirst();
  return row && { job: jobOf(row), requestSha256: row.request_sha256 };
}

/** Removes the idempotency key from older jobs, so that it can be used again. */
export async function forgetKey(
  db: Kysely<Tables>,
  accountId: string,
  key: string,
  before: Date,
): Promise<void> {
  await db
    .updateTable("transcript_job")
    .set({ idempotency_key: null, request_sha256: null })
    .where("account_id", "=", accountId)
    .where("idempotency_key", "=", key)
    .where("started_at", "<", before)
    .execute();
}

/** Ends a job as cancelled. Returns false if the account has no such job that is unfinished. */
export async function cancelJob(
  trx: Transaction<Tables>,
  accountId: string,
  id: string,
): Promise<boolean> {
  const end = { state: "CANCELLED", error: cancelledStatus } as const;
  return await failRow(trx, id, end, sql<boolean>`account_id = ${accountId}`);
}
