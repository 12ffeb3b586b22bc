import { sql, type Kysely, type Transaction } from "kysely";
import type { Tables } from "../database/tables.ts";
import { shownMs } from "../media/media-facts.ts";
import { foldText } from "../std/fold-text.ts";
import { metadataOf } from "../transcripts/metadata-text.ts";
import { lockHead, newestVersion } from "./newest-version.ts";

/**
 * Rebuilds the head of a transcript from its newest version. Returns false if the result would be
 * uncertain: if the chain of versions is broken, or if the version of the head is lost and only the
 * head is left.
 */
export async function deriveHead(db: Kysely<Tables>, transcriptId: string): Promise<boolean> {
  return await db.transaction().execute(async (trx) => {
    const head = await lockHead(trx, transcriptId);
    const newest = head && (await newestVersion(trx, transcriptId));
    if (!newest || (head.is_lost && newest.metadata !== head.metadata)) return false;
    await trx
      .updateTable("transcript")
      .set({
        version_id: newest.id,
        parent_version_id: newest.parent_id,
        metadata: newest.metadata,
        ...filtersOf(newest.metadata),
        updated_at: sql<Date>`(select created_at from transcript_version where id = ${newest.id})`,
      })
      .where("id", "=", transcriptId)
      .execute();
    await setListedMs(trx, transcriptId);
    return true;
  });
}

/** Rebuilds the columns used by filters from the metadata of a head. */
export async function deriveFilters(db: Kysely<Tables>, transcriptId: string): Promise<boolean> {
  return await db.transaction().execute(async (trx) => {
    const head = await lockHead(trx, transcriptId);
    if (!head) return false;
    await trx
      .updateTable("transcript")
      .set(filtersOf(head.metadata))
      .where("id", "=", transcriptId)
      .execute();
    await setListedMs(trx, transcriptId);
    return true;
  });
}

async function setListedMs(trx: Transaction<Tables>, transcriptId: string): Promise<void> {
  await sql`update transcript t set listed_ms = ${shownMs} where id = ${transcriptId}`.execute(trx);
}

/** Returns the columns of a head that are derived from its metadata. */
function filtersOf(metadata: string): { subject: string; keywords: string[] } {
  const { subject, keywords } = metadataOf(metadata);
  return { subject: foldText(subject), keywords };
}
