import { sql, type Kysely } from "kysely";
import type { Lease } from "../../database/lease.ts";
import type { Tables } from "../../database/tables.ts";
import type { WindowSpeakers } from "../../engines/protocol/recognizer.ts";
import type { Segment } from "../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { segmentsFromJson, segmentsJson } from "../../transcripts/segments.ts";
import { jsonText } from "../../transcripts/transcript-store.ts";
import type { StoredWindow } from "./hear-speakers.ts";
import type { Span } from "./piece-segments.ts";

/**
 * Keeps the result of a piece, while the lease is the latest. The job cannot end meanwhile, and
 * leave the piece behind.
 */
export async function insertPiece(
  db: Kysely<Tables>,
  lease: Lease,
  piece: Span & { readonly index: number },
  segments: readonly Segment[],
): Promise<void> {
  await sql`
    insert into transcript_job_piece (job_id, piece, start_ms, end_ms, segments)
    select id, ${piece.index}::int, ${piece.startMs}::int, ${piece.endMs}::int,
      ${segmentsJson(segments)}::jsonb
    from transcript_job
    where id = ${lease.id} and lease = ${lease.number} and state = 'PROCESSING' for share
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
  lease: Lease,
  number: number,
  { startMs, endMs, speakers }: StoredWindow,
): Promise<void> {
  await sql`
    insert into transcript_job_window (job_id, number, start_ms, end_ms, speakers)
    select id, ${number}::int, ${startMs}::int, ${endMs}::int, ${JSON.stringify(speakers)}::jsonb
    from transcript_job
    where id = ${lease.id} and lease = ${lease.number} and state = 'PROCESSING' for share
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
