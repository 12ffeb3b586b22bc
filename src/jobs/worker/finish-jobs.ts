import type { Kysely, Transaction } from "kysely";
import { countJobAudio } from "../../auth/usage-store.ts";
import { databaseTrouble } from "../../database/database-trouble.ts";
import { LeaseLost } from "../../database/lease.ts";
import type { Tables } from "../../database/tables.ts";
import { setFactsOf, type DescribedMedia } from "../../media/media-facts.ts";
import { keepOutputs, type MediaOutputs } from "../../media/media-outputs.ts";
import { Batches } from "../../std/batches.ts";
import { insertRows, type TranscriptRows } from "../../transcripts/insert-transcript.ts";
import { succeedJobs, type JobSuccess } from "./end-jobs.ts";
import { deletePieces } from "./job-checkpoints.ts";

/** A job with all the data that is needed to end it. */
export interface FinishedJob {
  readonly success: JobSuccess;
  /** Whether the job may have checkpoints. */
  readonly hasPieces: boolean;
  readonly rows: TranscriptRows;
  /** The facts of the media, if the transcript keeps it. */
  readonly media: DescribedMedia | undefined;
  /** The outputs of the model for a job of a single piece, if the transcript keeps the media. */
  readonly outputs?: MediaOutputs | undefined;
}

const jobsMax = 64;

/**
 * Creates the batches that end jobs as SUCCESS. Jobs that end concurrently share one commit. add()
 * throws LeaseLost.
 */
export function createFinish(db: Kysely<Tables>): Batches<FinishedJob, undefined> {
  const finishAll = async (jobs: readonly FinishedJob[]): Promise<undefined[]> => {
    await db.transaction().execute(async (trx) => await finish(trx, jobs));
    return jobs.map(() => undefined);
  };
  const isSharedFailure = (error: unknown): boolean => databaseTrouble(error) !== undefined;
  return new Batches(finishAll, { itemsMax: jobsMax, isSharedFailure });
}

/**
 * Writes the transcripts, the ends of the jobs and their audio in one commit. Writes nothing if one
 * of the jobs has lost its lease.
 */
async function finish(trx: Transaction<Tables>, jobs: readonly FinishedJob[]): Promise<void> {
  const audio = await succeedJobs(
    trx,
    jobs.map(({ success }) => success),
  );
  if (!audio) throw new LeaseLost();
  const withPieces = jobs.filter(({ hasPieces }) => hasPieces);
  await deletePieces(trx, ...withPieces.map(({ success }) => success.lease.id));
  // Other transcripts may have the same media, and transcripts are locked before media.
  await setFactsOf(
    trx,
    jobs.flatMap(({ media }) => media ?? []),
  );
  await keepOutputs(
    trx,
    jobs.flatMap(({ outputs }) => outputs ?? []),
  );
  await insertRows(
    trx,
    jobs.map(({ rows }) => rows),
  );
  // This is done last, since from here on every end of a job of the account, on any node, waits for
  // this commit.
  await countJobAudio(trx, audio);
}
