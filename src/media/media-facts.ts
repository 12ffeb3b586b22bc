import { sql, type Kysely, type Transaction } from "kysely";
import type { Tables } from "../database/tables.ts";

/** What is known of a recording once all of it was decoded; its waveform is kept beside it, in pieces. */
export interface MediaFacts {
  /** Of its first audio stream. */
  readonly durationMs: number;
  readonly fileType: "AUDIO" | "VIDEO";
}

/** Keeps a piece of a waveform: pairs of signed bytes. Nothing happens when the media is gone, or the piece kept already. */
export async function keepPeaks(
  db: Kysely<Tables>,
  mediaId: string,
  number: number,
  peaks: Int8Array,
): Promise<void> {
  const bytes = Buffer.from(peaks.buffer, peaks.byteOffset, peaks.length);
  await sql`
    insert into media_peaks (media_id, number, peaks)
    select id, ${number}::int, ${bytes}::bytea from media where id = ${mediaId} for key share
    on conflict (media_id, number) do update set peaks = excluded.peaks
      where media_peaks.peaks <> excluded.peaks
  `.execute(db);
}

/** Ends a description well: the pieces that are kept are the whole waveform. */
export async function setFacts(
  trx: Transaction<Tables>,
  mediaId: string,
  { durationMs, fileType }: MediaFacts,
): Promise<void> {
  await trx
    .updateTable("media")
    .set({
      duration_ms: durationMs,
      file_type: fileType,
      peaks_count: sql<number>`(
        select coalesce(sum(length(peaks)), 0) / 2 from media_peaks where media_id = ${mediaId})`,
      described_at: sql<Date>`now()`,
      problem: null,
    })
    .where("id", "=", mediaId)
    .execute();
}

/** Ends a description that cannot be made: `problem` is the reason. What it has left goes. */
export async function setProblem(
  trx: Transaction<Tables>,
  mediaId: string,
  problem: string,
): Promise<void> {
  await trx.deleteFrom("media_peaks").where("media_id", "=", mediaId).execute();
  await trx
    .updateTable("media")
    .set({ described_at: sql<Date>`now()`, problem })
    .where("id", "=", mediaId)
    .execute();
}

/** Keeps the hash of media that a store took without the service. */
export async function setSha256(
  db: Kysely<Tables>,
  mediaId: string,
  sha256: Buffer,
): Promise<void> {
  await db
    .updateTable("media")
    .set({ sha256 })
    .where("id", "=", mediaId)
    .where("sha256", "is", null)
    .execute();
}

/** A waveform that is whole. */
export interface StoredWaveform {
  /** Pixels in all pieces. */
  readonly length: number;
  /** Pairs of signed bytes, a piece at a time from the database; breaks off when the media goes. */
  readonly pieces: AsyncIterable<Int8Array>;
}

/** undefined: the media is gone, or has no waveform. */
export async function findWaveform(
  db: Kysely<Tables>,
  mediaId: string,
): Promise<StoredWaveform | undefined> {
  const row = await db
    .selectFrom("media")
    .where("id", "=", mediaId)
    .select("peaks_count")
    .executeTakeFirst();
  const length = row?.peaks_count ?? undefined;
  return length === undefined ? undefined : { length, pieces: piecesOf(db, mediaId, length) };
}

async function* piecesOf(
  db: Kysely<Tables>,
  mediaId: string,
  length: number,
): AsyncGenerator<Int8Array, void, undefined> {
  let read = 0;
  for (let number = 0; read < length; number++) {
    const row = await db
      .selectFrom("media_peaks")
      .where("media_id", "=", mediaId)
      .where("number", "=", number)
      .select("peaks")
      .executeTakeFirst();
    if (!row) throw new Error("a piece of the waveform is gone");
    const { buffer, byteOffset, length: bytes } = row.peaks;
    yield new Int8Array(buffer, byteOffset, bytes);
    read += bytes / 2;
  }
}
