import {
  sql,
  type Kysely,
  type Transaction,
  type UpdateQueryBuilder,
  type UpdateResult,
} from "kysely";
import type { JobAudio } from "../../auth/usage-store.ts";
import type { Tables } from "../../database/tables.ts";
import type { StatusJson } from "../../gen/google/rpc/status_pb.ts";
import type {
  Segment,
  TranscriptMetadata,
} from "../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { segmentsFromJson } from "../../transcripts/segments.ts";
import { jsonText, metadataOf } from "../../transcripts/transcript-store.ts";
import type { WindowSpeakers } from "../../engines/protocol/recognizer.ts";
import type { StoredWindow } from "./hear-speakers.ts";
import type { JobLease } from "../job-queue.ts";
import { segmentsJson, type Span } from "./piece-segments.ts";
import { isAwaited, tellEnd } from "./tell-end.ts";

/** What a worker needs of a job that it has leased. */
export interface LeasedJob {
  readonly accountId: string;
  /** The key that submitted it. */
  readonly keyId: string | null;
  readonly metadata: TranscriptMetadata;
  readonly uri: string | null;
  readonly mediaId: string | null;
  /** This one included. */
  readonly tries: number;
  readonly progressPercent: number;
}

/**
 * Begins tries, in the order of the leases; undefined where the job has ended, or a later lease
 * works on it. Begun again by who did not hear the answer, a try is the same.
 */
export async function beginTries(
  db: Kysely<Tables>,
  leases: readonly JobLease[],
): Promise<(LeasedJob | undefined)[]> {
  const { rows } = await sql<LeasedRow>`
    update transcript_job j set lease = begun.lease, tries = j.tries + (j.lease < begun.lease)::int
    from (
      select id, max(lease) as lease
      from unnest(${leases.map(({ jobId }) => jobId)}::uuid[], ${leases.map(({ number }) => number)}::int[]) as all_begun (id, lease)
      group by id) as begun
    where j.id = begun.id and j.lease <= begun.lease and j.state = 'PROCESSING'
    returning j.id, j.lease, j.account_id, j.key_id, j.media_uri, j.media_id, j.tries, j.progress_percent, j.metadata::text as metadata
  `.execute(db);
  const byId = new Map(rows.map((row) => [row.id, row]));
  return leases.map(({ jobId, number }) => {
    const row = byId.get(jobId);
    if (row?.lease !== number) return undefined;
    return {
      accountId: row.account_id,
      keyId: row.key_id,
      metadata: metadataOf(row.metadata),
      uri: row.media_uri,
      mediaId: row.media_id,
      tries: row.tries,
      progressPercent: row.progress_percent,
    };
  });
}

interface LeasedRow {
  readonly id: string;
  readonly lease: number;
  readonly account_id: string;
  readonly key_id: string | null;
  readonly media_uri: string | null;
  readonly media_id: string | null;
  readonly tries: number;
  readonly progress_percent: number;
  readonly metadata: string;
}

/** How often a job was tried without a word about how it went. */
export async function triesOf(db: Kysely<Tables>, jobId: string): Promise<number> {
  const row = await db
    .selectFrom("transcript_job")
    .where("id", "=", jobId)
    .select("tries")
    .executeTakeFirst();
  return row?.tries ?? 0;
}

/**
 * Takes a try back that says nothing against the job: the worker stopped, or the lease was lost by
 * no fault of the job.
 */
export async function takeTryBack(db: Kysely<Tables>, jobId: string): Promise<void> {
  await db
    .updateTable("transcript_job")
    .set({ tries: sql<number>`greatest(tries - 1, 0)` })
    .where("id", "=", jobId)
    .where("state", "=", "PROCESSING")
    .execute();
}

/**
 * Lets this try be the first, since the job has got past where its worker died. Once for each job:
 * one that kills worker after worker comes to an end.
 */
export async function clearTries(db: Kysely<Tables>, lease: JobLease): Promise<void> {
  await db
    .updateTable("transcript_job")
    .set({ tries: 1, is_cleared: true })
    .where("id", "=", lease.jobId)
    .where("lease", "=", lease.number)
    .where("is_cleared", "=", false)
    .execute();
}

/** Writes how far a job is; it never falls and is at most 99. */
export async function writeProgress(
  db: Kysely<Tables>,
  lease: JobLease,
  percent: number,
): Promise<void> {
  const whole = Math.max(0, Math.min(99, Math.floor(percent)));
  await db
    .updateTable("transcript_job")
    .set({
      progress_percent: sql<number>`greatest(progress_percent, ${whole}::int)`,
      updated_at: laterNow,
    })
    .where("id", "=", lease.jobId)
    .where("lease", "=", lease.number)
    .where("state", "=", "PROCESSING")
    .execute();
}

/** Records the media that was fetched; false when the lease is no longer the latest. */
export async function setMedia(
  trx: Transaction<Tables>,
  lease: JobLease,
  mediaId: string,
): Promise<boolean> {
  const row = await trx
    .updateTable("transcript_job")
    .set({ media_id: mediaId })
    .where("id", "=", lease.jobId)
    .where("lease", "=", lease.number)
    .where("state", "=", "PROCESSING")
    .returning("id")
    .executeTakeFirst();
  return row !== undefined;
}

/** How a job has ended well. */
export interface JobSuccess {
  readonly lease: JobLease;
  readonly transcriptId: string;
  readonly durationMs: number;
  /** The transcript has the media now. */
  readonly keepsMedia: boolean;
}

/**
 * Ends jobs as SUCCESS, and tells what audio they had; undefined when one of the leases is no
 * longer the latest.
 */
export async function succeedJobs(
  trx: Transaction<Tables>,
  jobs: readonly JobSuccess[],
): Promise<readonly JobAudio[] | undefined> {
  const ids = jobs.map(({ lease }) => lease.jobId);
  const { rows } = await sql<{
    id: string;
    is_awaited: boolean;
    account_id: string;
    key_id: string | null;
    duration_ms: number;
  }>`
    update transcript_job
    set state = 'SUCCESS', progress_percent = 100, transcript_id = ended.transcript_id,
      duration_ms = ended.duration_ms, updated_at = greatest(now(), updated_at),
      media_id = case when ended.keeps_media then null else media_id end
    from unnest(${ids}::uuid[], ${jobs.map(({ lease }) => lease.number)}::int[],
        ${jobs.map(({ transcriptId }) => transcriptId)}::uuid[],
        ${jobs.map(({ durationMs }) => durationMs)}::int[],
        ${jobs.map(({ keepsMedia }) => keepsMedia)}::bool[])
      as ended (id, lease, transcript_id, duration_ms, keeps_media)
    where transcript_job.id = ended.id and transcript_job.lease = ended.lease and state = 'PROCESSING'
    returning transcript_job.id, ${isAwaited}, account_id, key_id, transcript_job.duration_ms
  `.execute(trx);
  for (const { id, is_awaited: isTold } of rows) if (isTold) await tellEnd(trx, id);
  if (rows.length !== jobs.length) return undefined;
  return rows.map((row) => ({
    accountId: row.account_id,
    keyId: row.key_id,
    ms: row.duration_ms,
  }));
}

/** Ends a job as FAILED; false when the lease is no longer the latest. */
export async function failTry(
  trx: Transaction<Tables>,
  lease: JobLease,
  error: StatusJson,
): Promise<boolean> {
  return await failRow(trx, lease.jobId, error, (query) => query.where("lease", "=", lease.number));
}

type JobUpdate = UpdateQueryBuilder<Tables, "transcript_job", "transcript_job", UpdateResult>;

/** Ends a job that is PROCESSING as FAILED, if the condition holds as well. */
export async function failRow(
  trx: Transaction<Tables>,
  id: string,
  error: StatusJson,
  condition: (query: JobUpdate) => JobUpdate,
): Promise<boolean> {
  const query = trx
    .updateTable("transcript_job")
    .set({ state: "FAILED", error: JSON.stringify(error), updated_at: laterNow })
    .where("id", "=", id)
    .where("state", "=", "PROCESSING");
  const row = await condition(query).returning(isAwaited).executeTakeFirst();
  if (row) await deletePieces(trx, id);
  if (row?.is_awaited) await tellEnd(trx, id);
  return row !== undefined;
}

/**
 * Keeps the result of a piece, while the lease is the latest. The job cannot end meanwhile, and
 * leave the piece behind.
 */
export async function insertPiece(
  db: Kysely<Tables>,
  lease: JobLease,
  piece: Span & { readonly index: number },
  segments: readonly Segment[],
): Promise<void> {
  await sql`
    insert into transcript_job_piece (job_id, piece, start_ms, end_ms, segments)
    select id, ${piece.index}::int, ${piece.startMs}::int, ${piece.endMs}::int,
      ${JSON.stringify(segmentsJson(segments))}::jsonb
    from transcript_job
    where id = ${lease.jobId} and lease = ${lease.number} and state = 'PROCESSING' for share
    on conflict (job_id, piece) do update
      set start_ms = excluded.start_ms, end_ms = excluded.end_ms, segments = excluded.segments
  `.execute(db);
}

export interface StoredPiece extends Span {
  readonly segments: readonly Segment[];
}

/** What earlier tries recognized, by the index of the piece. */
export async function readPieces(
  db: Kysely<Tables>,
  jobId: string,
): Promise<Map<number, StoredPiece>> {
  const rows = await db
    .selectFrom("transcript_job_piece")
    .where("job_id", "=", jobId)
    .select(["piece", "start_ms", "end_ms", jsonText("segments").as("segments")])
    .execute();
  return new Map(
    rows.map((row) => {
      const segments = segmentsFromJson(JSON.parse(row.segments));
      return [row.piece, { startMs: row.start_ms, endMs: row.end_ms, segments }];
    }),
  );
}

/** Keeps who speaks in a window, while the lease is the latest. */
export async function insertWindow(
  db: Kysely<Tables>,
  lease: JobLease,
  number: number,
  { startMs, endMs, speakers }: StoredWindow,
): Promise<void> {
  await sql`
    insert into transcript_job_window (job_id, number, start_ms, end_ms, speakers)
    select id, ${number}::int, ${startMs}::int, ${endMs}::int, ${JSON.stringify(speakers)}::jsonb
    from transcript_job
    where id = ${lease.jobId} and lease = ${lease.number} and state = 'PROCESSING' for share
    on conflict (job_id, number) do update
      set start_ms = excluded.start_ms, end_ms = excluded.end_ms, speakers = excluded.speakers
  `.execute(db);
}

/** In which windows earlier tries heard who speaks, by their numbers. */
export async function readWindows(
  db: Kysely<Tables>,
  jobId: string,
): Promise<Map<number, StoredWindow>> {
  const rows = await db
    .selectFrom("transcript_job_window")
    .where("job_id", "=", jobId)
    .select(["number", "start_ms", "end_ms", jsonText("speakers").as("speakers")])
    .execute();
  return new Map(
    rows.map((row) => {
      // Nobody but insertWindow() writes there.
      const speakers: WindowSpeakers = JSON.parse(row.speakers);
      return [row.number, { startMs: row.start_ms, endMs: row.end_ms, speakers }];
    }),
  );
}

/** Deletes what jobs that end have as checkpoints. */
export async function deletePieces(
  db: Kysely<Tables>,
  ...jobIds: readonly string[]
): Promise<void> {
  if (jobIds.length === 0) return;
  await db.deleteFrom("transcript_job_piece").where("job_id", "in", jobIds).execute();
  await db.deleteFrom("transcript_job_window").where("job_id", "in", jobIds).execute();
}

/**
 * The clock of the database, which all nodes share; never before an earlier change, whatever it was
 * set to.
 */
const laterNow = sql<Date>`greatest(now(), updated_at)`;
