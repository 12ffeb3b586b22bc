import { sql, type Kysely, type Transaction } from "kysely";
import type { Tables } from "../database/tables.ts";

/**
 * The facts about a recording that are known after decoding. The waveform is stored separately, in
 * sections.
 */
export interface MediaFacts {
  /** The duration of the first audio stream. */
  readonly durationMs: number;
  readonly fileType: "AUDIO" | "VIDEO";
}

/**
 * Stores a section of a waveform as pairs of signed bytes. Does nothing if the media was deleted or
 * the section is already stored.
 */
export async function keepPeaks(
  db: Kysely<Tables>,
  mediaId: string,
  number: number,
  peaks: Int8Array,
): Promise<void> {
  const bytes = bytesOf(peaks);
  await sql`
    insert into media_peaks (media_id, number, peaks)
    select id, ${number}::int, ${bytes}::bytea from media where id = ${mediaId} for key share
    on conflict (media_id, number) do update set peaks = excluded.peaks
      where media_peaks.peaks <> excluded.peaks
  `.execute(db);
}

/** The result of describing media. */
export interface DescribedMedia extends MediaFacts {
  readonly mediaId: string;
  /** The last section of the waveform, which is not stored yet. */
  readonly lastPeaks: { readonly number: number; readonly peaks: Int8Array } | undefined;
  /** The hash of the media's bytes, if it was computed. */
  readonly sha256: Buffer | null;
  readonly sizeBytes: number;
}

/**
 * Records successful descriptions. Uses one statement for the last sections of the waveforms and
 * one for the facts.
 */
export async function setFactsOf(
  trx: Transaction<Tables>,
  described: readonly DescribedMedia[],
): Promise<void> {
  // Jobs that read the same media find the same facts. Media is always locked in id order.
  const media = [...new Map(described.map((each) => [each.mediaId, each])).values()].toSorted(
    (a, b) => (a.mediaId < b.mediaId ? -1 : 1),
  );
  if (media.length === 0) return;
  await setListed(trx, media);
  const pieces = media.flatMap(({ mediaId, lastPeaks }) =>
    lastPeaks ? [{ mediaId, ...lastPeaks }] : [],
  );
  if (pieces.length > 0) {
    await sql`
      insert into media_peaks (media_id, number, peaks)
      select m.id, piece.number, piece.peaks
      from unnest(${pieces.map(({ mediaId }) => mediaId)}::uuid[], ${pieces.map(({ number }) => number)}::int[],
          ${pieces.map(({ peaks }) => bytesOf(peaks))}::bytea[]) as piece (media_id, number, peaks)
      join media m on m.id = piece.media_id
      order by m.id for key share of m
      on conflict (media_id, number) do update set peaks = excluded.peaks
        where media_peaks.peaks <> excluded.peaks
    `.execute(trx);
  }
  await sql`
    update media m
    set duration_ms = facts.duration_ms, file_type = facts.file_type, described_at = now(), problem = null,
      sha256 = coalesce(m.sha256, case when m.size_bytes = facts.size_bytes then facts.sha256 end),
      peaks_count = (select coalesce(sum(length(peaks)), 0) / 2 from media_peaks where media_id = m.id)
    from unnest(${media.map(({ mediaId }) => mediaId)}::uuid[], ${media.map(({ durationMs }) => durationMs)}::int[],
        ${media.map(({ fileType }) => fileType)}::text[], ${media.map(({ sha256 }) => sha256)}::bytea[],
        ${media.map(({ sizeBytes }) => sizeBytes)}::bigint[])
      as facts (media_id, duration_ms, file_type, sha256, size_bytes)
    where m.id = facts.media_id
  `.execute(trx);
}

function bytesOf(peaks: Int8Array): Buffer {
  return Buffer.from(peaks.buffer, peaks.byteOffset, peaks.length);
}

/** Records a successful description. The sections already stored are the whole waveform. */
export async function setFacts(
  trx: Transaction<Tables>,
  mediaId: string,
  { durationMs, fileType }: MediaFacts,
): Promise<void> {
  await setListed(trx, [{ mediaId, durationMs }]);
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

/**
 * Sets the duration of transcripts in lists. This comes before changes of the media, because
 * transcripts are locked before media.
 */
async function setListed(
  trx: Transaction<Tables>,
  media: readonly { readonly mediaId: string; readonly durationMs: number }[],
): Promise<void> {
  await sql`
    update transcript t set listed_ms = facts.duration_ms
    from (
      select t.id, facts.duration_ms
      from unnest(${media.map(({ mediaId }) => mediaId)}::uuid[], ${media.map(({ durationMs }) => durationMs)}::int[])
        as facts (media_id, duration_ms)
      join transcript t on t.media_id = facts.media_id
      where t.listed_ms is distinct from facts.duration_ms
      order by t.id for no key update of t) as facts
    where t.id = facts.id
  `.execute(trx);
}

/**
 * The duration in ms of the recording of a transcript (t), as lists show it; null if unknown.
 * `transcript.listed_ms` stores this value.
 */
export const shownMs = sql<number | null>`coalesce(
  case when t.media_id is null then t.recording_ms
    else (select duration_ms from media where id = t.media_id) end,
  case when not t.media_was_replaced
    then round(rtrim(t.metadata ->> 'recordingDuration', 's')::numeric * 1000)::int end)`;

/** Records a failed description with its reason, and deletes its waveform sections. */
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

/** Stores the hash of media that was uploaded directly to the store. */
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

/** A complete waveform. */
export interface StoredWaveform {
  /** The number of pixels in all sections. */
  readonly length: number;
  /**
   * Pairs of signed bytes, read section by section. Reading fails if the media is deleted in the
   * meantime.
   */
  readonly sections: AsyncIterable<Int8Array>;
}

/** Finds the waveform of media. Returns undefined if the media was deleted or has no waveform. */
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
  return length === undefined ? undefined : { length, sections: piecesOf(db, mediaId, length) };
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
    if (!row) throw new Error("a section of the waveform was deleted");
    const { buffer, byteOffset, length: bytes } = row.peaks;
    yield new Int8Array(buffer, byteOffset, bytes);
    read += bytes / 2;
  }
}
