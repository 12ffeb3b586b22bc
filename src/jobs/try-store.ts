import {
  sql,
  type Kysely,
  type Transaction,
  type UpdateQueryBuilder,
  type UpdateResult,
} from "kysely";
import type { Tables } from "../database/tables.ts";
import type { StatusJson } from "../gen/google/rpc/status_pb.ts";
import type {
  Segment,
  TranscriptMetadata,
} from "../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { segmentsFromJson } from "../transcripts/segments.ts";
import { jsonText, metadataOf } from "../transcripts/transcript-store.ts";
import type { WindowSpeakers } from "../engines/recognizer.ts";
import type { StoredWindow } from "./hear-speakers.ts";
import type { JobLease } from "./job-queue.ts";
import { segmentsJson, type Span } from "./piece-segments.ts";

/** What a worker needs of a job that it has leased. */
export interface LeasedJob {
  readonly accountId: string;
  readonly metadata: TranscriptMetadata;
  readonly uri: string | null;
  readonly mediaId: string | null;
  /** This one included. */
  readonly tries: number;
  readonly progressPercent: number;
}

/** Begins a try; undefined when the job has ended, or a later lease works on it. */
export async function beginTry(
  db: Kysely<Tables>,
  lease: JobLease,
): Promise<LeasedJob | undefined> {
  const row = await db
    .updateTable("transcript_job")
    .set({ lease: lease.number, tries: sql<number>`tries + 1` })
    .where("id", "=", lease.jobId)
    .where("state", "=", "PROCESSING")
    .where("lease", "<", lease.number)
    .returning(["account_id", "media_uri", "media_id", "tries", "progress_percent"])
    .returning(jsonText("metadata").as("metadata"))
    .executeTakeFirst();
  return (
    row && {
      accountId: row.account_id,
      metadata: metadataOf(row.metadata),
      uri: row.media_uri,
      mediaId: row.media_id,
      tries: row.tries,
      progressPercent: row.progress_percent,
    }
  );
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

/** Takes a try back that says nothing against the job: the worker stopped, or the lease was lost by no fault of the job. */
export async function takeTryBack(db: Kysely<Tables>, jobId: string): Promise<void> {
  await db
    .updateTable("transcript_job")
    .set({ tries: sql<number>`greatest(tries - 1, 0)` })
    .where("id", "=", jobId)
    .where("state", "=", "PROCESSING")
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

/** Ends a job as SUCCESS; false when the lease is no longer the latest. `keepsMedia`: the transcript has it now. */
export async function succeedJob(
  trx: Transaction<Tables>,
  lease: JobLease,
  result: {
    readonly transcriptId: string;
    readonly durationMs: number;
    readonly keepsMedia: boolean;
  },
): Promise<boolean> {
  const row = await trx
    .updateTable("transcript_job")
    .set({
      state: "SUCCESS",
      progress_percent: 100,
      transcript_id: result.transcriptId,
      duration_ms: result.durationMs,
      updated_at: laterNow,
      ...(result.keepsMedia && { media_id: null }),
    })
    .where("id", "=", lease.jobId)
    .where("lease", "=", lease.number)
    .where("state", "=", "PROCESSING")
    .returning("id")
    .executeTakeFirst();
  if (row) await deletePieces(trx, lease.jobId);
  return row !== undefined;
}

/** Ends a job as FAILED; false when the lease is no longer the latest. */
export async function failTry(
  trx: Kysely<Tables>,
  lease: JobLease,
  error: StatusJson,
): Promise<boolean> {
  return await failRow(trx, lease.jobId, error, (query) => query.where("lease", "=", lease.number));
}

type JobUpdate = UpdateQueryBuilder<Tables, "transcript_job", "transcript_job", UpdateResult>;

/** Ends a job that is PROCESSING as FAILED, if the condition holds as well. */
export async function failRow(
  trx: Kysely<Tables>,
  id: string,
  error: StatusJson,
  condition: (query: JobUpdate) => JobUpdate,
): Promise<boolean> {
  const query = trx
    .updateTable("transcript_job")
    .set({ state: "FAILED", error: JSON.stringify(error), updated_at: laterNow })
    .where("id", "=", id)
    .where("state", "=", "PROCESSING");
  const { numUpdatedRows } = await condition(query).executeTakeFirstOrThrow();
  if (numUpdatedRows > 0n) await deletePieces(trx, id);
  return numUpdatedRows > 0n;
}

/** Keeps the result of a piece, while the lease is the latest. */
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
    where id = ${lease.jobId} and lease = ${lease.number} and state = 'PROCESSING'
    on conflict (job_id, piece) do update
      set start_ms = excluded.start_ms, end_ms = excluded.end_ms, segments = excluded.segments
  `.execute(db);
}

export interface StoredPiece extends Span {
  readonly segments: readonly Segment[];
}

/** What earlier tries recognised, by the index of the piece. */
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
    where id = ${lease.jobId} and lease = ${lease.number} and state = 'PROCESSING'
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

async function deletePieces(db: Kysely<Tables>, jobId: string): Promise<void> {
  await db.deleteFrom("transcript_job_piece").where("job_id", "=", jobId).execute();
  await db.deleteFrom("transcript_job_window").where("job_id", "=", jobId).execute();
}

/** The clock of the database, which all nodes share; never before an earlier change, whatever it was set to. */
const laterNow = sql<Date>`greatest(now(), updated_at)`;
