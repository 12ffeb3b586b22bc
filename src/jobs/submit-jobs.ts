import type { Kysely, Transaction } from "kysely";
import { databaseTrouble } from "../database/database-trouble.ts";
import type { Tables } from "../database/tables.ts";
import { Batches } from "../std/batches.ts";
import type { CheckedSubmit } from "./check-submit.ts";
import type { JobQueue } from "./job-queue.ts";
import { insertJobs, lockJobCounts, lockUploadMedia, type NewJob } from "./job-store.ts";
import type { StoredJob } from "./stored-job.ts";

/** A job whose request is checked, but for its upload. */
export type SubmittedJob = Omit<NewJob, "source"> & {
  readonly source: NonNullable<CheckedSubmit["source"]>;
};

/**
 * The job; or why there is none: its upload is no finished one of the account, another job has its idempotency key, or the account has
 * as many unfinished jobs as it may.
 */
export type Submitted = StoredJob | "NO_UPLOAD" | "KEY_TAKEN" | "TOO_MANY_JOBS";

const batchMax = 64;

/** Makes jobs with their places in the queue, those that come at the same time in one commit. */
export function createSubmit(parts: {
  readonly db: Kysely<Tables>;
  readonly queue: JobQueue;
  /** Jobs of one account that are not ended. */
  readonly accountJobsMax: number;
}): Batches<SubmittedJob, Submitted> {
  const { db, queue, accountJobsMax } = parts;
  const submitAll = async (jobs: readonly SubmittedJob[]): Promise<Submitted[]> => {
    const submitted = await db
      .transaction()
      .execute(async (trx) => await insertAll(trx, queue, jobs, accountJobsMax));
    queue.announce();
    return submitted;
  };
  const isEverybodys = (error: unknown): boolean => databaseTrouble(error) !== undefined;
  return new Batches(submitAll, { itemsMax: batchMax, isEverybodys });
}

async function insertAll(
  trx: Transaction<Tables>,
  queue: JobQueue,
  jobs: readonly SubmittedJob[],
  accountJobsMax: number,
): Promise<Submitted[]> {
  const tooMany = await pastMax(trx, jobs, accountJobsMax);
  const uploads = jobs.flatMap(({ accountId, source }) =>
    "uploadId" in source ? { accountId, uploadId: source.uploadId } : [],
  );
  const media = await lockUploadMedia(trx, uploads);
  const found = jobs.flatMap(({ source, ...job }): NewJob[] => {
    if (tooMany.has(job.id)) return [];
    if (!("uploadId" in source)) return [{ ...job, source }];
    const mediaId = media.get(source.uploadId);
    return mediaId?.accountId === job.accountId
      ? [{ ...job, source: { ...source, mediaId: mediaId.id } }]
      : [];
  });
  const inserted = await insertJobs(trx, found);
  await queue.addAll(trx, [...inserted.values()]);
  const byId = new Map(found.map((job) => [job.id, job]));
  return jobs.map(({ id }) => {
    if (tooMany.has(id)) return "TOO_MANY_JOBS";
    const job = byId.get(id);
    if (!job) return "NO_UPLOAD";
    return inserted.has(id) ? storedJob(job) : "KEY_TAKEN";
  });
}

/** Ids of the jobs that their accounts may not have as well. */
async function pastMax(
  trx: Transaction<Tables>,
  jobs: readonly SubmittedJob[],
  accountJobsMax: number,
): Promise<Set<string>> {
  const accountIds = [...new Set(jobs.map(({ accountId }) => accountId))];
  const counts = await lockJobCounts(trx, accountIds);
  const tooMany = new Set<string>();
  for (const { id, accountId } of jobs) {
    const count = counts.get(accountId) ?? 0;
    if (count < accountJobsMax) counts.set(accountId, count + 1);
    else tooMany.add(id);
  }
  return tooMany;
}

function storedJob({ id, accountId, metadata, now }: NewJob): StoredJob {
  return {
    id,
    accountId,
    state: "PROCESSING",
    progressPercent: 0,
    metadata,
    durationMs: null,
    transcriptId: null,
    error: null,
    startedAt: now,
    updatedAt: now,
  };
}
