import type { Kysely } from "kysely";
import { databaseTime } from "../database/database-time.ts";
import type { Tables } from "../database/tables.ts";
import { deleteBytes, releaseAll } from "../media/media-records.ts";
import type { MediaStore } from "../media/media-store.ts";
import type { Log } from "../std/log.ts";
import { deleteBinnedBefore } from "./bin-store.ts";

/** The number of transcripts per transaction, so that others do not wait long for a lock. */
const batchRows = 200;
export const dayMs = 86_400_000;

/**
 * Deletes the transcripts that have been in the bin for `binDays`, with their media. Each batch is
 * one commit, and bytes are deleted after it: a service that is killed continues with the rows that
 * are left, and sweepMedia() finds the bytes. Several nodes can run it at the same time.
 */
export async function emptyBins(parts: {
  readonly db: Kysely<Tables>;
  readonly store: Pick<MediaStore, "delete" | "keepsAll">;
  readonly log: Log;
  readonly binDays: number;
  readonly now?: () => number;
  readonly signal?: AbortSignal;
}): Promise<void> {
  const { db, log, binDays, now, signal } = parts;
  const before = databaseTime(now, -binDays * dayMs);
  let total = 0;
  for (let count = batchRows; count === batchRows; total += count) {
    signal?.throwIfAborted();
    const { rows, free } = await db.transaction().execute(async (trx) => {
      const deleted = await deleteBinnedBefore(trx, before, batchRows);
      const media = deleted.flatMap(({ mediaId }) => (mediaId === null ? [] : [mediaId]));
      return { rows: deleted.length, free: await releaseAll(trx, [...new Set(media)]) };
    });
    await deleteBytes(parts, free, "bin_emptied");
    count = rows;
  }
  if (total > 0) log.info({ count: total, binDays }, "bin.emptied");
}
