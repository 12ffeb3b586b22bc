import { sql, type Kysely } from "kysely";
import { isDatabaseTrouble } from "../../database/database-trouble.ts";
import { databaseTime } from "../../database/database-time.ts";
import type { Tables } from "../../database/tables.ts";
import type { MediaStore } from "../../media/media-store.ts";
import type { JobRecorder } from "../../metrics/recorders.ts";
import type { Log } from "../../std/log.ts";
import { openRepeat } from "../../std/repeat.ts";
import { ServiceError } from "../../std/service-error.ts";
import { failureStatus } from "../job-failure.ts";
import { failRow } from "../worker/end-jobs.ts";
import { contentMsMax, dropContent } from "./content-store.ts";

interface StaleContentParts {
  readonly db: Kysely<Tables>;
  readonly store: MediaStore;
  readonly recorder?: JobRecorder | undefined;
  readonly log: Log;
  readonly now?: () => number;
}

const sweepEveryMs = 60_000;
const jobsAtOnce = 100;

/** Ends jobs that wait for content in vain, every minute until disposed of. */
export function openContentSweep(parts: StaleContentParts): AsyncDisposable {
  const { log } = parts;
  const failing = { isWarning: isDatabaseTrouble, event: "content.sweep_failed" };
  return openRepeat({ everyMs: sweepEveryMs, log, ...failing }, async () => endStaleJobs(parts));
}

/** Ends as ERROR the jobs whose content did not arrive in time, and deletes what has arrived. */
export async function endStaleJobs(parts: StaleContentParts): Promise<void> {
  const { db, recorder, log, now } = parts;
  for (;;) {
    const { rows } = await sql<{ id: string; upload_id: string | null }>`
      select job.id, job.upload_id from transcript_job job left join upload on upload.id = job.upload_id
      where job.state = 'WAITING_FOR_CONTENT'
        and (upload.id is null or upload.media_id is null and upload.expires_at < ${databaseTime(now)})
      limit ${jobsAtOnce}
    `.execute(db);
    let ended = 0;
    for (const { id, upload_id: uploadId } of rows) {
      const failure = contentMissing();
      const end = { state: "ERROR", error: failureStatus(failure) } as const;
      const isEnded = await db.transaction().execute(async (trx) => {
        return await failRow(trx, id, end, sql<boolean>`state = 'WAITING_FOR_CONTENT'`);
      });
      // Another node may have ended it, or its caller.
      if (isEnded) {
        ended += 1;
        recorder?.expired(failure.reason);
      }
      if (uploadId !== null) await dropContent(parts, uploadId);
    }
    if (ended > 0) log.info({ count: ended }, "content.expired");
    if (rows.length < jobsAtOnce) return;
  }
}

export function contentMissing(): ServiceError {
  const hours = contentMsMax / 3_600_000;
  return new ServiceError(
    "deadline_exceeded",
    `the content of the job was not complete ${hours} hours after its last write`,
    { reason: "CONTENT_MISSING" },
  );
}
