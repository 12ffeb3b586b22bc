import type { Transaction } from "kysely";
import { countJobAudio } from "../../auth/usage-store.ts";
import { databaseTrouble } from "../../database/database-trouble.ts";
import type { Database } from "../../database/database.ts";
import type { Tables } from "../../database/tables.ts";
import { setFactsOf, type DescribedMedia } from "../../media/media-facts.ts";
import { Batches } from "../../std/batches.ts";
import { insertRows, type TranscriptRows } from "../../transcripts/insert-transcript.ts";
import type { JobQueue } from "../job-queue.ts";
import { deletePieces, succeedJobs, type JobSuccess } from "./try-store.ts";

/** A job that has all that its end needs. */
export interface FinishedJob {
  readonly success: JobSuccess;
  /** Something may be kept of its pieces. */
  readonly hasPieces: boolean;
  readonly rows: TranscriptRows;
  /** What is now known of the media, where the transcript keeps it. */
  readonly media: DescribedMedia | undefined;
}

/**
 * The lease is somebody else's, or the job has ended: nothing that this worker still does counts.
 */
export class LeaseLost extends Error {
  override readonly name = "LeaseLost";
}

const jobsMax = 64;

/** Ends jobs as SUCCESS, those that end at the same time in one commit. add() throws LeaseLost. */
export function createFinish(parts: {
  readonly database: Pick<Database, "db">;
  readonly queue: JobQueue;
}): Batches<FinishedJob, undefined> {
  const { database, queue } = parts;
  const finishAll = async (jobs: readonly FinishedJob[]): Promise<undefined[]> => {
    await database.db.transaction().execute(async (trx) => await finish(trx, queue, jobs));
    return jobs.map(() => undefined);
  };
  const isEverybodys = (error: unknown): boolean => databaseTrouble(error) !== undefined;
  return new Batches(finishAll, { itemsMax: jobsMax, isEverybodys });
}

/**
 * One commit: the transcripts, the jobs' ends with their audio, and their places in the queue; or,
 * where one has no lease, nothing.
 */
async function finish(
  trx: Transaction<Tables>,
  queue: JobQueue,
  jobs: readonly FinishedJob[],
): Promise<void> {
  const successes = jobs.map(({ success }) => success);
  const leases = successes.map(({ lease }) => lease);
  const audio = await succeedJobs(trx, successes);
  if (!audio || !(await queue.endAll(trx, leases))) throw new LeaseLost();
  const withPieces = jobs.filter(({ hasPieces }) => hasPieces);
  await deletePieces(trx, ...withPieces.map(({ success }) => success.lease.jobId));
  await insertRows(
    trx,
    jobs.map(({ rows }) => rows),
  );
  await setFactsOf(
    trx,
    jobs.flatMap(({ media }) => media ?? []),
  );
  // Last: every end of a job of the account, on any node, waits for this one's commit from here on.
  await countJobAudio(trx, audio);
}
