import type { Kysely } from "kysely";
import type { Tables } from "../../database/tables.ts";
import { deleteBytes, releaseMedia } from "../../media/media-records.ts";
import type { MediaStore } from "../../media/media-store.ts";
import type { Log } from "../../std/log.ts";

const jobsAtOnce = 100;

/**
 * Releases the media of jobs that have ended. Fetched media is deleted unless a transcript keeps
 * it; an upload stays for another job. Called after each job, and regularly for jobs whose worker
 * died.
 */
export async function sweepJobs(parts: {
  readonly db: Kysely<Tables>;
  readonly store: MediaStore;
  readonly log: Log;
}): Promise<void> {
  const { db } = parts;
  const ended = await db
    .selectFrom("transcript_job")
    .where("media_id", "is not", null)
    .where("state", "in", ["SUCCESS", "ERROR", "CANCELLED"])
    .select(["id", "media_id", "upload_id", "state"])
    .limit(jobsAtOnce)
    .execute();
  const released: string[] = [];
  try {
    for (const job of ended) {
      const mediaId = job.media_id ?? "";
      const isReleased = await db.transaction().execute(async (trx) => {
        await trx
          .updateTable("transcript_job")
          .set({ media_id: null })
          .where("id", "=", job.id)
          .execute();
        const staysUploaded = job.upload_id !== null && job.state !== "SUCCESS";
        return !staysUploaded && (await releaseMedia(trx, mediaId));
      });
      if (isReleased) released.push(mediaId);
    }
  } finally {
    await deleteBytes(parts, released, "job_ended");
  }
}
