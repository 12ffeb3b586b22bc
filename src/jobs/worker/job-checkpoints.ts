import { sql, type Kysely } from "kysely";
import { isHeld, LeaseLost, type Lease } from "../../database/lease.ts";
import type { Tables } from "../../database/tables.ts";
import type { WindowSpeakers } from "../../engines/protocol/recognizer.ts";
import type { Segment } from "../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { segmentsFromJson, segmentsJson } from "../../transcripts/segments.ts";
import { jsonText } from "../../transcripts/metadata-text.ts";
import type { StoredWindow } from "./detect-speakers.ts";
import type { Span } from "./piece-segments.ts";

/** Stores the result of a piece. Throws LeaseLost if the lease is lost. */
export async function insertPiece(
  db: Kysely<Tables>,
  lease: Lease,
  piece: Span & { readonly index: number },
  segments: readonly Segment[],
): Promise<void> {
  const { index: number, startMs, endMs } = piece;
  await insertCheckpoint(db, lease, pieceColumns, {
    number,
    startMs,
    endMs,
    json: segmentsJson(segments),
  });
}

export interface StoredPiece extends Span {
  readonly segments: readonly Segment[];
}

/** Returns the pieces that earlier attempts kept, by index. */
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

/** Stores who speaks in a window. Throws LeaseLost if the lease is lost. */
export async function insertWindow(
  db: Kysely<Tables>,
  lease: Lease,
  number: number,
  { startMs, endMs, speakers }: StoredWindow,
): Promise<void> {
  const json = JSON.stringify(speakers);
  await insertCheckpoint(db, lease, windowColumns, { number, startMs, endMs, json });
}

/** Returns the windows with speakers that earlier attempts kept, by number. */
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
      // Only insertWindow() writes this column.
      const speakers: WindowSpeakers = JSON.parse(row.speakers);
      return [row.number, { startMs: row.start_ms, endMs: row.end_ms, speakers }];
    }),
  );
}

interface CheckpointColumns {
  readonly table: "transcript_job_piece" | "transcript_job_window";
  readonly number: string;
  readonly json: string;
}

const pieceColumns = { table: "transcript_job_piece", number: "piece", json: "segments" } as const;
const windowColumns = {
  table: "transcript_job_window",
  number: "number",
  json: "speakers",
} as const;

/**
 * Inserts a checkpoint. The job cannot end before the row is written, so no row is left behind.
 * Throws LeaseLost if the lease is lost.
 */
async function insertCheckpoint(
  db: Kysely<Tables>,
  lease: Lease,
  columns: CheckpointColumns,
  row: Span & { readonly number: number; readonly json: string },
): Promise<void> {
  const [number, json] = [sql.ref(columns.number), sql.ref(columns.json)];
  const { numAffectedRows = 0n } = await sql`
    insert into ${sql.table(columns.table)} (job_id, ${number}, start_ms, end_ms, ${json})
    select id, ${row.number}::int, ${row.startMs}::int, ${row.endMs}::int, ${row.json}::jsonb
    from transcript_job where ${isHeld("transcript_job", lease)} for share
    on conflict (job_id, ${number}) do update
      set start_ms = excluded.start_ms, end_ms = excluded.end_ms, ${json} = excluded.${json}
  `.execute(db);
  if (numAffectedRows === 0n) throw new LeaseLost();
}

/** Deletes the checkpoints of jobs that are ending. */
export async function deletePieces(
  db: Kysely<Tables>,
  ...jobIds: readonly string[]
): Promise<void> {
  if (jobIds.length === 0) return;
  await db.deleteFrom("transcript_job_piece").where("job_id", "in", jobIds).execute();
  await db.deleteFrom("transcript_job_window").where("job_id", "in", jobIds).execute();
}
