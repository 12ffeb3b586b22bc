import { clone } from "@bufbuild/protobuf";
import type { Kysely, Transaction } from "kysely";
import { countJobAudio } from "../../auth/usage-store.ts";
import { databaseTrouble } from "../../database/database-trouble.ts";
import { LeaseLost } from "../../database/lease.ts";
import type { Tables } from "../../database/tables.ts";
import { TranscriptMetadataSchema } from "../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { setFactsOf, type DescribedMedia } from "../../media/media-facts.ts";
import { keepOutputs, type MediaOutputs } from "../../media/media-outputs.ts";
import { Batches } from "../../std/batches.ts";
import { ServiceError } from "../../std/service-error.ts";
import { insertRows, type TranscriptRows } from "../../transcripts/insert-transcript.ts";
import { transcriptNotFound } from "../../transcripts/resource-names.ts";
import type { PackedSegments } from "../../transcripts/segments.ts";
import { appendVersion, lockTranscript } from "../../transcripts/transcript-changes.ts";
import { succeedJobs, type JobSuccess } from "./end-jobs.ts";
import { deletePieces } from "./job-checkpoints.ts";
import { nameSpeakers } from "./name-speakers.ts";

/** A job with all the data that is needed to end it. */
export interface FinishedJob {
  readonly success: JobSuccess;
  /** Whether the job may have checkpoints. */
  readonly hasPieces: boolean;
  /** The transcript, or the version that a transcript gets. */
  readonly result: TranscriptRows | NewVersion;
  /** The facts of the media, if the transcript keeps it. */
  readonly media: DescribedMedia | undefined;
  /** The outputs of the model for a job of a single piece, if the transcript keeps the media. */
  readonly outputs?: MediaOutputs | undefined;
}

/** A version of a transcript that was transcribed again. */
export interface NewVersion {
  readonly accountId: string;
  readonly transcriptId: string;
  /** The media that was transcribed. */
  readonly mediaId: string;
  readonly languageCode: string;
  /** The speakers that were found. */
  readonly speakerIds: readonly string[];
  readonly segments: PackedSegments;
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
  const results = jobs.map(({ result }) => result);
  const versions = results.filter((result) => "transcriptId" in result);
  // Transcripts are locked first, as by all changes of them.
  for (const version of versions.toSorted(byTranscript)) await addVersion(trx, version);
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
    results.filter((result) => "transcript" in result),
  );
  // This is done last, since from here on every end of a job of the account, on any node, waits for
  // this commit.
  await countJobAudio(trx, audio);
}

const byTranscript = (one: NewVersion, other: NewVersion): number =>
  one.transcriptId < other.transcriptId ? -1 : 1;

/**
 * Appends the version to the transcript as it is now. Throws if the transcript was deleted, or has
 * got other media.
 */
async function addVersion(
  trx: Transaction<Tables>,
  { accountId, transcriptId, mediaId, languageCode, speakerIds, segments }: NewVersion,
): Promise<void> {
  const head = await lockTranscript(trx, accountId, transcriptId);
  if (!head) throw transcriptNotFound(`transcripts/${transcriptId}`);
  const { media_id: current } = await trx
    .selectFrom("transcript")
    .where("id", "=", transcriptId)
    .select("media_id")
    .executeTakeFirstOrThrow();
  if (current !== mediaId) {
    throw new ServiceError(
      "failed_precondition",
      "the transcript has got other media since the job was submitted; submit it again",
      { reason: "TRANSCRIPT_MEDIA_CHANGED" },
    );
  }
  const metadata = clone(TranscriptMetadataSchema, head.metadata);
  metadata.languageCode = languageCode;
  nameSpeakers(metadata, speakerIds);
  await appendVersion(trx, head, { metadata, segments, kind: "RECOGNIZED" }, new Date());
}
