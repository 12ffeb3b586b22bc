import { createHash } from "node:crypto";
import { sql, type Kysely, type Transaction } from "kysely";
import type { Tables } from "../database/tables.ts";

/**
 * The outputs of a model for a part of media, as a job has recognized it. They contain what was
 * said: they are read only by the alignment of the media's transcripts, and deleted with the media.
 */
export interface OutputsPart {
  /** The number of the part: 0, 1, 2, ... The parts follow one another without a gap. */
  readonly number: number;
  readonly startMs: number;
  readonly endMs: number;
  /** The name of the model, which changes with its files. */
  readonly model: string;
  readonly bytes: Uint8Array;
}

/** A part with its media. */
export interface MediaOutputs extends OutputsPart {
  readonly mediaId: string;
}

/** The outputs of a stored part have changed, or the part was deleted. */
export class DamagedOutputs extends Error {
  override readonly name = "DamagedOutputs";
}

/**
 * Stores parts. A part replaces the one with the same number, as the outputs of another model do.
 * Does nothing for media that was deleted.
 */
export async function keepOutputs(
  db: Kysely<Tables> | Transaction<Tables>,
  parts: readonly MediaOutputs[],
): Promise<void> {
  if (parts.length === 0) return;
  // Jobs that end together may have the same media; their parts are equal, or the last one counts.
  const kept = [...new Map(parts.map((each) => [`${each.mediaId} ${each.number}`, each])).values()];
  const bytes = kept.map((part) => bufferOf(part.bytes));
  await sql`
    insert into media_outputs (media_id, number, start_ms, end_ms, model, outputs, sha256)
    select m.id, part.number, part.start_ms, part.end_ms, part.model, part.outputs, part.sha256
    from unnest(${kept.map(({ mediaId }) => mediaId)}::uuid[], ${kept.map(({ number }) => number)}::int[],
        ${kept.map(({ startMs }) => startMs)}::int[], ${kept.map(({ endMs }) => endMs)}::int[],
        ${kept.map(({ model }) => model)}::text[], ${bytes}::bytea[], ${bytes.map(hashOf)}::bytea[])
      as part (media_id, number, start_ms, end_ms, model, outputs, sha256)
    join media m on m.id = part.media_id
    order by m.id for key share of m
    on conflict (media_id, number) do update set start_ms = excluded.start_ms,
      end_ms = excluded.end_ms, model = excluded.model, outputs = excluded.outputs,
      sha256 = excluded.sha256
      where (media_outputs.model, media_outputs.sha256) <> (excluded.model, excluded.sha256)
        or (media_outputs.start_ms, media_outputs.end_ms) <> (excluded.start_ms, excluded.end_ms)
  `.execute(db);
}

/** The outputs of a whole recording, of one model. */
export interface RecordingOutputs {
  readonly mediaId: string;
  readonly model: string;
  readonly durationMs: number;
}

/**
 * Finds the outputs of this model for media. Returns undefined if there are none, or not for the
 * whole recording.
 */
export async function findOutputs(
  db: Kysely<Tables>,
  mediaId: string,
  model: string,
): Promise<RecordingOutputs | undefined> {
  const { rows } = await sql<{ duration_ms: number }>`
    select m.duration_ms from media m
    cross join lateral (
      select count(*) as parts, max(number) as last, max(end_ms) as end_ms,
        coalesce(bool_and(model = ${model} and start_ms = before_ms), false) as is_whole
      from (
        select number, start_ms, end_ms, model,
          lag(end_ms, 1, 0) over (order by number) as before_ms
        from media_outputs where media_id = m.id) part) o
    where m.id = ${mediaId} and o.is_whole and o.parts = o.last + 1 and o.end_ms = m.duration_ms
  `.execute(db);
  const durationMs = rows[0]?.duration_ms;
  return durationMs === undefined ? undefined : { mediaId, model, durationMs };
}

/**
 * Reads the parts that overlap a section, in order. Throws DamagedOutputs if one of them is missing
 * or has changed.
 */
export async function readOutputs(
  db: Kysely<Tables>,
  { mediaId, model, durationMs }: RecordingOutputs,
  section: { readonly startMs: number; readonly endMs: number },
): Promise<readonly OutputsPart[]> {
  const rows = await db
    .selectFrom("media_outputs")
    .where("media_id", "=", mediaId)
    .where("end_ms", ">", section.startMs)
    .where("start_ms", "<", section.endMs)
    .orderBy("number")
    .selectAll()
    .execute();
  let atMs = rows[0]?.start_ms ?? durationMs;
  const isBegun = atMs <= section.startMs;
  for (const row of rows) {
    const isSound = row.start_ms === atMs && row.model === model;
    if (!isSound || !hashOf(row.outputs).equals(row.sha256)) throw new DamagedOutputs();
    atMs = row.end_ms;
  }
  if (!isBegun || atMs < Math.min(section.endMs, durationMs)) throw new DamagedOutputs();
  return rows.map(({ number, start_ms: startMs, end_ms: endMs, outputs }) => ({
    number,
    startMs,
    endMs,
    model,
    bytes: outputs,
  }));
}

function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
}

function hashOf(bytes: Buffer): Buffer {
  return createHash("sha256").update(bytes).digest();
}
