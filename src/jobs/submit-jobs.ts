import { clone } from "@bufbuild/protobuf";
import type { Kysely, Transaction } from "kysely";
import { databaseTrouble } from "../database/database-trouble.ts";
import type { Tables } from "../database/tables.ts";
import { TranscriptMetadataSchema } from "../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { Batches } from "../std/batches.ts";
import type { SubmittedSource } from "./check-submit.ts";
import { insertUploads, removeUploadsOf, uploadFor } from "./content/content-store.ts";
import type { Arrivals } from "./arrivals.ts";
import { countJobsOfKeys, insertJobs, lockJobCounts, type NewJob } from "./job-store.ts";
import {
  lockTranscriptMedia,
  lockUploadMedia,
  type TranscriptMediaOfJob,
  type UploadedMedia,
} from "./lock-media.ts";
import type { StoredJob } from "./stored-job.ts";

/** A job with a request that has been checked, except for its upload. */
export type SubmittedJob = Omit<NewJob, "source"> & {
  readonly source: SubmittedSource;
  /** The maximum numbers of unfinished jobs for the account and for its key. 0: any number. */
  readonly jobsMax: { readonly account: number; readonly key: number };
};

/**
 * The job, or the reason why there is none: the account has no such finished upload or transcript,
 * the transcript has no media, another job has the idempotency key, or the account or its key has
 * reached its limit of unfinished jobs.
 */
export type Submitted = StoredJob | Refusal | "KEY_TAKEN" | "ACCOUNT_FULL" | "KEY_FULL";

type Refusal = "NO_UPLOAD" | "NO_TRANSCRIPT" | "NO_MEDIA";

const batchMax = 64;

/** Inserts jobs. Jobs that are submitted concurrently share one commit. */
export function createSubmit(parts: {
  readonly db: Kysely<Tables>;
  readonly arrivals: Pick<Arrivals, "announce">;
}): Batches<SubmittedJob, Submitted> {
  const { db, arrivals } = parts;
  const submitAll = async (jobs: readonly SubmittedJob[]): Promise<Submitted[]> => {
    const submitted = await db.transaction().execute(async (trx) => await insertAll(trx, jobs));
    arrivals.announce();
    return submitted;
  };
  const isSharedFailure = (error: unknown): boolean => databaseTrouble(error) !== undefined;
  return new Batches(submitAll, { itemsMax: batchMax, isSharedFailure });
}

async function insertAll(
  trx: Transaction<Tables>,
  jobs: readonly SubmittedJob[],
): Promise<Submitted[]> {
  const tooMany = await pastMax(trx, jobs);
  const uploads = jobs.flatMap(({ accountId, source }) =>
    "uploadId" in source ? { accountId, uploadId: source.uploadId } : [],
  );
  const media = await lockUploadMedia(trx, uploads);
  const transcripts = await lockTranscriptMedia(
    trx,
    jobs.flatMap(({ accountId, source }) =>
      "newVersionOf" in source ? { accountId, newVersionOf: source.newVersionOf } : [],
    ),
  );
  const refused = new Map<string, Refusal>();
  const found = jobs.flatMap((job): NewJob[] => {
    if (tooMany.has(job.id)) return [];
    const ready = readyJob(job, { media, transcripts });
    if (typeof ready !== "string") return [ready];
    refused.set(job.id, ready);
    return [];
  });
  await insertUploads(trx, found);
  const inserted = await insertJobs(trx, found);
  await removeUploadsOf(
    trx,
    found.filter(({ id }) => !inserted.has(id)),
  );
  const byId = new Map(found.map((job) => [job.id, job]));
  return jobs.map(({ id }) => {
    const full = tooMany.get(id);
    if (full) return full;
    const job = byId.get(id);
    if (!job) return refused.get(id) ?? "NO_UPLOAD";
    return inserted.has(id) ? storedJob(job) : "KEY_TAKEN";
  });
}

/** Returns a job with its media, or the reason why it has none. */
function readyJob(
  { source, ...job }: SubmittedJob,
  found: {
    readonly media: ReadonlyMap<string, UploadedMedia>;
    readonly transcripts: ReadonlyMap<string, TranscriptMediaOfJob>;
  },
): NewJob | Refusal {
  if ("uri" in source) return { ...job, source };
  if ("isSentLater" in source) return { ...job, source: uploadFor(job) };
  if ("newVersionOf" in source) {
    const transcript = found.transcripts.get(source.newVersionOf);
    if (transcript?.accountId !== job.accountId) return "NO_TRANSCRIPT";
    const { mediaId } = transcript;
    if (mediaId === null) return "NO_MEDIA";
    const metadata = clone(TranscriptMetadataSchema, transcript.metadata);
    metadata.languageCode = job.metadata.languageCode;
    return { ...job, metadata, source: { ...source, mediaId } };
  }
  const uploaded = found.media.get(source.uploadId);
  if (uploaded?.accountId !== job.accountId) return "NO_UPLOAD";
  const { metadata } = job;
  if (metadata.originalSource.case === undefined && uploaded.fileName !== "") {
    metadata.originalSource = { case: "originalFilename", value: uploaded.fileName };
  }
  return { ...job, source: { ...source, mediaId: uploaded.id } };
}

/** Returns the jobs that exceed the limit of their account or key. */
async function pastMax(
  trx: Transaction<Tables>,
  jobs: readonly SubmittedJob[],
): Promise<Map<string, "ACCOUNT_FULL" | "KEY_FULL">> {
  const accountIds = [...new Set(jobs.map(({ accountId }) => accountId))];
  const ofAccounts = await lockJobCounts(trx, accountIds);
  const limited = jobs.flatMap(({ keyId, jobsMax }) => (jobsMax.key > 0 ? (keyId ?? []) : []));
  const ofKeys = await countJobsOfKeys(trx, accountIds, [...new Set(limited)]);
  const tooMany = new Map<string, "ACCOUNT_FULL" | "KEY_FULL">();
  for (const { id, accountId, keyId, jobsMax } of jobs) {
    const ofAccount = ofAccounts.get(accountId) ?? 0;
    const ofKey = ofKeys.get(keyId ?? "") ?? 0;
    if (jobsMax.account > 0 && ofAccount >= jobsMax.account) tooMany.set(id, "ACCOUNT_FULL");
    else if (jobsMax.key > 0 && ofKey >= jobsMax.key) tooMany.set(id, "KEY_FULL");
    else {
      ofAccounts.set(accountId, ofAccount + 1);
      if (keyId !== null) ofKeys.set(keyId, ofKey + 1);
    }
  }
  return tooMany;
}

function storedJob({ id, accountId, metadata, source, model, now }: NewJob): StoredJob {
  const isWaiting = "contentTranscriptId" in source;
  return {
    id,
    accountId,
    state: isWaiting ? "WAITING_FOR_CONTENT" : "PROCESSING",
    progressPercent: 0,
    metadata,
    durationMs: null,
    uploadId: "uploadId" in source ? source.uploadId : null,
    transcriptId: null,
    contentTranscriptId: isWaiting ? source.contentTranscriptId : null,
    newVersionOf: "newVersionOf" in source ? source.newVersionOf : null,
    model,
    error: null,
    startedAt: now,
    updatedAt: now,
  };
}
