import { createHash } from "node:crypto";
import { sql } from "kysely";
import { askForDescription } from "../media/description-queue.ts";
import { shownMs } from "../media/media-facts.ts";
import { findMedia } from "../media/media-records.ts";
import { ServiceError } from "../std/service-error.ts";
import { paged, underWayMsMax, type Archive } from "./archive.ts";
import type { Finding, FindingCode } from "./finding.ts";

const pageRows = 200;

interface MediaRow {
  readonly id: string;
  readonly size_bytes: string;
  readonly sha256: Buffer | null;
  readonly is_used: boolean;
  readonly is_young: boolean;
  readonly facts_fit: boolean;
}

/**
 * Checks media with a record: whether its bytes exist and are unchanged, and whether it is referred
 * to.
 */
export async function* checkMedia(archive: Archive): AsyncGenerator<Finding, void, undefined> {
  const rows = paged(archive, "media", async (after) => await mediaPage(archive, after));
  for await (const row of rows) {
    const name = `media/${row.id}`;
    if (!row.is_used && !row.is_young) {
      yield { code: "MEDIA_UNUSED", name, what: "no transcript, upload or job refers to it" };
    }
    if (!row.facts_fit) {
      const remedy = {
        done: "it will be described again",
        run: () => forgetFacts(archive, row.id),
      };
      yield { code: "MEDIA_FACTS", name, what: "its waveform is incomplete", remedy };
    }
    const flaw = await flawOfBytes(archive, row);
    // Media that was deleted after it was found has neither bytes nor a record.
    if (flaw && (await findMedia(archive.db, row.id))) yield { ...flaw, name };
  }
}

async function mediaPage(
  { db, now = Date.now }: Archive,
  after: string,
): Promise<readonly MediaRow[]> {
  const { rows } = await sql<MediaRow>`
    select m.id, m.size_bytes, m.sha256,
      m.created_at > ${new Date(now() - underWayMsMax)} as is_young,
      exists (select from transcript where media_id = m.id)
        or exists (select from upload where media_id = m.id)
        or exists (select from transcript_job where media_id = m.id) as is_used,
      m.peaks_count is null
        or (p.pieces = coalesce(p.last + 1, 0) and p.bytes = 2 * m.peaks_count) as facts_fit
    from (select * from media where id > ${after} order by id limit ${pageRows}) m
    cross join lateral (
      select count(*) as pieces, max(number) as last, coalesce(sum(octet_length(peaks)), 0) as bytes
      from media_peaks where media_id = m.id) p
    order by m.id
  `.execute(db);
  return rows;
}

/** Returns the flaw of the media's bytes, if there is one. */
async function flawOfBytes(
  { store, readsMedia }: Archive,
  { id, size_bytes: recorded, sha256 }: MediaRow,
): Promise<{ code: FindingCode; what: string } | undefined> {
  const missing = { code: "MEDIA_MISSING", what: "its bytes are not in the store" } as const;
  const bytes = await store.sizeBytes(id);
  if (bytes === undefined) return missing;
  if (`${bytes}` !== recorded) {
    return {
      code: "MEDIA_LENGTH",
      what: `${recorded} bytes are recorded, but the store has ${bytes}`,
    };
  }
  if (!readsMedia || !sha256) return undefined;
  const hash = createHash("sha256");
  try {
    for await (const chunk of await store.open(id)) hash.update(chunk);
  } catch (error) {
    if (error instanceof ServiceError && error.code === "not_found") return missing;
    throw error;
  }
  const found = hash.digest();
  return found.equals(sha256)
    ? undefined
    : { code: "MEDIA_ALTERED", what: `its SHA-256 is ${found.toString("hex")}` };
}

/** Deletes the facts of media, so that the next idle worker describes it again. */
async function forgetFacts({ db }: Archive, id: string): Promise<boolean> {
  return await db.transaction().execute(async (trx) => {
    const facts = {
      duration_ms: null,
      file_type: null,
      peaks_count: null,
      described_at: null,
      problem: null,
    };
    // Transcripts are locked before media.
    await sql`select from transcript where media_id = ${id} order by id for no key update`.execute(
      trx,
    );
    const media = trx.updateTable("media").set(facts).where("id", "=", id);
    const { numUpdatedRows } = await media.executeTakeFirstOrThrow();
    // The media was deleted after it was found.
    if (numUpdatedRows === 0n) return false;
    await sql`update transcript t set listed_ms = ${shownMs} where media_id = ${id}`.execute(trx);
    await trx.deleteFrom("media_peaks").where("media_id", "=", id).execute();
    await askForDescription(trx, id);
    return true;
  });
}
