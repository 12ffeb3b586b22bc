import { createHash } from "node:crypto";
import { create, fromJsonString, toJson, type JsonValue } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import type { Kysely } from "kysely";
import { callerOf } from "../auth/caller.ts";
import type { Tables } from "../database/tables.ts";
import { StatusSchema } from "../gen/google/rpc/status_pb.ts";
import {
  SubmitTranscriptJobRequestSchema,
  TranscriptJob_State as State,
  TranscriptJobSchema,
  type SubmitTranscriptJobRequest,
  type TranscriptJob,
  type Transcripts,
} from "../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import type { MediaAllowList } from "../media/media-url.ts";
import type { Uploads } from "../media/uploads.ts";
import { durationFromMs, timestampFromDate } from "../std/duration.ts";
import { idIn, newId } from "../std/ids.ts";
import { invalidArgument, ServiceError, shown } from "../std/service-error.ts";
import { readPageRequest } from "../transcripts/page-request.ts";
import type { PageTokens } from "../transcripts/page-token.ts";
import { checkSubmit, type CheckedSubmit } from "./check-submit.ts";
import type { JobQueue } from "./job-queue.ts";
import {
  cancelJob,
  findJob,
  findJobOfKey,
  forgetKey,
  insertJob,
  listJobs,
  lockUploadMedia,
  type NewJob,
  type StoredJob,
} from "./job-store.ts";

export interface JobsParts {
  readonly db: Kysely<Tables>;
  readonly queue: JobQueue;
  readonly uploads: Pick<Uploads, "collectUpload">;
  readonly pageTokens: PageTokens;
  readonly allow: MediaAllowList;
  /** Languages of the installed models, sorted. */
  readonly languageCodes: () => readonly string[];
  readonly now?: () => number;
}

/** Sections 4.1 and 4.2, and the list and the end of jobs. */
export type JobsService = Pick<
  ServiceImpl<typeof Transcripts>,
  "submitTranscriptJob" | "getTranscriptJob" | "listTranscriptJobs" | "cancelTranscriptJob"
>;

/** decisions, Jobs: how long an Idempotency-Key names the same job. */
const keyMs = 24 * 3_600_000;
export const keyCharsMax = 255;

export function createJobsService(parts: JobsParts): JobsService {
  const { db, queue, pageTokens } = parts;
  return {
    async submitTranscriptJob(request, context) {
      const { accountId } = callerOf(context);
      const key = readKey(context.requestHeader.get("idempotency-key"));
      return submittedMessage(await submit(parts, accountId, request, key));
    },

    async getTranscriptJob({ name }, context) {
      const { accountId } = callerOf(context);
      const job = await findJob(db, accountId, jobIdIn(name));
      if (!job) throw jobNotFound(name);
      return jobMessage(job);
    },

    async listTranscriptJobs(request, context) {
      const { accountId } = callerOf(context);
      const scope = { collection: "transcriptjob", accountId, filter: "" };
      const page = readPageRequest(pageTokens, scope, request);
      if (Array.isArray(page)) throw invalidArgument(page);
      const { jobs, next } = await listJobs(db, accountId, page);
      return {
        transcriptJobs: jobs.map(jobMessage),
        nextPageToken: next ? pageTokens.write(scope, next) : "",
      };
    },

    async cancelTranscriptJob({ name }, context) {
      const { accountId } = callerOf(context);
      const id = jobIdIn(name);
      const isCancelled = await db.transaction().execute(async (trx) => {
        if (!(await cancelJob(trx, accountId, id))) return false;
        await queue.remove(trx, id);
        return true;
      });
      const job = await findJob(db, accountId, id);
      if (!job) throw jobNotFound(name);
      if (isCancelled) return jobMessage(job);
      throw new ServiceError("failed_precondition", `the job has ended: it is ${job.state}`, {
        reason: "JOB_ENDED",
      });
    },
  };
}

/** Makes the job and its place in the queue in one commit; or finds the one that the key names. */
async function submit(
  parts: JobsParts,
  accountId: string,
  request: SubmitTranscriptJobRequest,
  key: string | null,
): Promise<StoredJob> {
  const { db, queue, uploads, now = Date.now } = parts;
  const at = now();
  const requestSha256 = key === null ? null : hashOf(request);
  if (key !== null) await forgetKey(db, accountId, key, new Date(at - keyMs));
  const earlier = await jobOfKey(db, accountId, key, requestSha256);
  if (earlier) return earlier;
  const { metadata, source, violations } = checkSubmit(request, parts);
  if (source && "uploadId" in source) await uploads.collectUpload(accountId, source.uploadId);
  const id = newId(at);
  const submitted = await db.transaction().execute(async (trx) => {
    const found = await findSource(trx, accountId, source, violations);
    if (violations.length > 0 || !found) throw invalidArgument(violations);
    const job: NewJob = {
      id,
      accountId,
      metadata,
      source: found,
      idempotencyKey: key,
      requestSha256,
      now: new Date(at),
    };
    const inserted = await insertJob(trx, job);
    if (!inserted) return undefined;
    await queue.add(trx, { id, priority: inserted.priority });
    return await findJob(trx, accountId, id);
  });
  const job = submitted ?? (await jobOfKey(db, accountId, key, requestSha256));
  if (!job) throw new Error("a job that was inserted is gone");
  return job;
}

/** The media that a submit names. What is wrong with it is added to the violations. */
async function findSource(
  trx: Kysely<Tables>,
  accountId: string,
  source: CheckedSubmit["source"],
  violations: { field: string; description: string }[],
): Promise<NewJob["source"] | undefined> {
  if (!source || "uri" in source) return source;
  const mediaId = await lockUploadMedia(trx, accountId, source.uploadId);
  if (mediaId !== undefined) return { uploadId: source.uploadId, mediaId };
  violations.push({
    field: "uri",
    description: `uploads/${source.uploadId} is no finished upload of this account`,
  });
  return undefined;
}

async function jobOfKey(
  db: Kysely<Tables>,
  accountId: string,
  key: string | null,
  requestSha256: Buffer | null,
): Promise<StoredJob | undefined> {
  if (key === null || requestSha256 === null) return undefined;
  const found = await findJobOfKey(db, accountId, key);
  if (!found || found.requestSha256?.equals(requestSha256)) return found?.job;
  throw new ServiceError(
    "already_exists",
    `the Idempotency-Key ${shown(key)} was used for another request`,
    { reason: "IDEMPOTENCY_KEY_USED" },
  );
}

function readKey(header: string | null): string | null {
  if (header === null || /^[\x21-\x7e]{1,255}$/.test(header)) return header;
  throw invalidArgument([
    {
      field: "Idempotency-Key",
      description: `1 to ${keyCharsMax} visible characters of ASCII are needed`,
    },
  ]);
}

/** Equal for equal requests, whatever the order of their fields and map entries was. */
function hashOf(request: SubmitTranscriptJobRequest): Buffer {
  const json = sorted(toJson(SubmitTranscriptJobRequestSchema, request));
  return createHash("sha256").update(JSON.stringify(json)).digest();
}

function sorted(json: JsonValue): JsonValue {
  if (Array.isArray(json)) return json.map(sorted);
  if (typeof json !== "object" || json === null) return json;
  const entries = Object.entries(json).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([name, value]) => [name, sorted(value)]));
}

/** §4.1: the answer to submit has neither state nor progress. */
function submittedMessage({ id, startedAt, metadata }: StoredJob): TranscriptJob {
  return create(TranscriptJobSchema, {
    name: `transcriptjob/${id}`,
    startTime: timestampFromDate(startedAt),
    transcriptMetadata: metadata,
  });
}

/** §2.1 */
function jobMessage(job: StoredJob): TranscriptJob {
  const message = submittedMessage(job);
  message.state = State[job.state];
  message.progressPercent = job.progressPercent;
  message.lastUpdatedTime = timestampFromDate(job.updatedAt);
  if (job.transcriptId !== null) message.transcript = `transcripts/${job.transcriptId}`;
  if (job.error !== null) message.error = fromJsonString(StatusSchema, job.error);
  if (job.durationMs !== null && message.transcriptMetadata) {
    message.transcriptMetadata.recordingDuration = durationFromMs(job.durationMs);
  }
  return message;
}

/** The id in transcriptjob/<id>; a malformed name names no job. */
function jobIdIn(name: string): string {
  const id = idIn("transcriptjob", name);
  if (id === undefined) throw jobNotFound(name);
  return id;
}

/** decisions, Errors: somebody else's job is answered like one that does not exist. */
function jobNotFound(name: string): ServiceError {
  return new ServiceError("not_found", `there is no job ${shown(name)}`, {
    reason: "JOB_NOT_FOUND",
  });
}
