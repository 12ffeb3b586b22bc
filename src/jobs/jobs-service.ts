import { createHash } from "node:crypto";
import { create, createRegistry, toJson, type JsonValue } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import type { Kysely } from "kysely";
import { callerOf, type Caller } from "../auth/caller.ts";
import { tooManyJobs } from "../auth/limits.ts";
import type { Meter } from "../auth/meter.ts";
import type { Tables } from "../database/tables.ts";
import { file_google_rpc_error_details } from "../gen/google/rpc/error_details_pb.ts";
import {
  ListTranscriptJobsResponseSchema,
  SubmitTranscriptJobRequestSchema,
  TranscriptJob_State as State,
  TranscriptJobSchema,
  type SubmitTranscriptJobRequest,
  type TranscriptJob,
  type Transcripts,
} from "../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import type { HintUse } from "../engines/protocol/check-hints.ts";
import type { MediaStore } from "../media/media-store.ts";
import type { MediaAllowList } from "../media/media-url.ts";
import type { Uploads } from "../media/uploads.ts";
import type { Batches } from "../std/batches.ts";
import { newId } from "../std/ids.ts";
import type { Log } from "../std/log.ts";
import { readPageRequest } from "../std/page-request.ts";
import type { PageTokens } from "../std/page-token.ts";
import { invalidArgument, ServiceError, shown, type FieldViolation } from "../std/service-error.ts";
import { currentTraceparent } from "../tracing/tracing.ts";
import { attachRawList } from "../std/raw-field.ts";
import type { NodeWatches } from "../watches/node-watches.ts";
import { parseFilter } from "../transcripts/filter.ts";
import type { SearchLimitsOf } from "../transcripts/search-limits.ts";
import type { Arrivals } from "./arrivals.ts";
import { checkSubmit } from "./check-submit.ts";
import { endMethods } from "./end-methods.ts";
import { jobMessage, submittedMessage } from "./job-message.ts";
import { jobIdIn, jobNotFound } from "./job-name.ts";
import { findJob, findJobOfKey, forgetKey, lockUploadMedia } from "./job-store.ts";
import { findJobsOf, listJobs } from "./job-lists.ts";
import { JobWatchers } from "./job-watchers.ts";
import { listedJob } from "./listed-job.ts";
import { jobOf, type JobRow, type StoredJob } from "./stored-job.ts";
import { createSubmit, type Submitted, type SubmittedJob } from "./submit-jobs.ts";
import { createWatchJobs } from "./watch-jobs.ts";

export interface JobsParts {
  readonly db: Kysely<Tables>;
  readonly arrivals: Pick<Arrivals, "announce">;
  readonly store: MediaStore;
  readonly log: Log;
  readonly uploads: Pick<Uploads, "collectUpload">;
  readonly pageTokens: PageTokens;
  readonly searchLimits: SearchLimitsOf;
  readonly allow: MediaAllowList;
  /** The models, for which languages and hints are checked. */
  readonly recognizer: HintUse["recognizer"];
  /** Provides and checks the limits on unfinished jobs and on audio. */
  readonly meter: Pick<Meter, "limitsOf" | "checkAudio">;
  /** What all watches of this node share. */
  readonly watches: NodeWatches;
  readonly now?: () => number;
}

/** Submitting and reading jobs (§4.1 and §4.2), and listing, watching and cancelling them. */
export type JobsService = Pick<
  ServiceImpl<typeof Transcripts>,
  | "submitTranscriptJob"
  | "getTranscriptJob"
  | "watchTranscriptJob"
  | "watchTranscriptJobs"
  | "listTranscriptJobs"
  | "cancelTranscriptJob"
  | "deleteTranscriptJob"
>;

/** The states that a filter can name. */
const jobStates = Object.keys(State);

/** The time for which an Idempotency-Key refers to the same job (docs/api.md, Jobs). */
const keyMs = 24 * 3_600_000;
export const keyCharsMax = 255;

const sharedMessages = new WeakMap<StoredJob, TranscriptJob>();

/** Returns the message that all watchers of a job share. */
function sharedMessage(job: StoredJob): TranscriptJob {
  const message = sharedMessages.get(job) ?? jobMessage(job);
  sharedMessages.set(job, message);
  return message;
}

/** The detail types of a job's error. */
const registry = createRegistry(file_google_rpc_error_details);

export function createJobsService(parts: JobsParts): JobsService {
  const { db, pageTokens, searchLimits, watches } = parts;
  const jobs = createSubmit(parts);
  const watchers = new JobWatchers(db, watches);
  const watchJobs = createWatchJobs(db, watches);
  return {
    async submitTranscriptJob(request, context) {
      const key = readKey(context.requestHeader.get("idempotency-key"));
      if (request.validateOnly) return validated(request, parts, context.protocolName);
      const submitting = { ...parts, jobs, absentIsFalse: isBinary(context.protocolName) };
      return submittedMessage(await submit(submitting, callerOf(context), request, key));
    },

    async getTranscriptJob({ name }, context) {
      const { accountId } = callerOf(context);
      const job = await findJob(db, accountId, jobIdIn(name));
      if (!job) throw jobNotFound(name);
      return jobMessage(job);
    },

    async *watchTranscriptJob({ name }, context) {
      const { accountId } = callerOf(context);
      const jobs = watchers.watch(accountId, jobIdIn(name), context.signal);
      for await (const job of jobs) yield sharedMessage(job);
    },

    async *watchTranscriptJobs({ filter, updatesOnly }, context) {
      const { accountId } = callerOf(context);
      yield* watchJobs(accountId, filter, context.signal, { updatesOnly });
    },

    async listTranscriptJobs(request, context) {
      const { accountId } = callerOf(context);
      const scope = { collection: "transcriptjob", accountId, filter: request.filter };
      const filter = request.filter === "" ? [] : parseFilter(request.filter, jobStates);
      const page = readPageRequest(pageTokens, scope, request);
      if ("field" in filter || "length" in page) {
        throw invalidArgument([
          ...("length" in page ? page : []),
          ...("field" in filter ? [filter] : []),
        ]);
      }
      const { rows, next } =
        filter.length > 0
          ? await findJobsOf(
              db,
              { accountId, filter },
              page,
              searchLimits(accountId, context.signal),
            )
          : await listJobs(db, accountId, page);
      const nextPageToken = next ? pageTokens.write(scope, next) : "";
      const answer = create(ListTranscriptJobsResponseSchema, { nextPageToken });
      const message = (row: JobRow) => jobMessage(jobOf(row));
      attachRawList(answer, ListTranscriptJobsResponseSchema.field.jobs, rows, {
        schema: TranscriptJobSchema,
        json: (row) => listedJob(row, registry),
        message,
      });
      return answer;
    },

    ...endMethods(parts),
  };
}

/** JSON can express a false `useUri`; a binary message of a client of the original cannot. */
function isBinary(protocolName: string): boolean {
  return ["grpc", "grpc-web", "connect"].includes(protocolName);
}

/** Checks a request without creating a job. Throws for all violations in the request. */
function validated(
  request: SubmitTranscriptJobRequest,
  parts: Pick<JobsParts, "allow" | "recognizer">,
  protocolName: string,
): TranscriptJob {
  const { metadata, violations } = checkSubmit(request, {
    ...parts,
    absentIsFalse: isBinary(protocolName),
  });
  if (violations.length > 0) throw invalidArgument(violations);
  return create(TranscriptJobSchema, { transcriptMetadata: metadata });
}

/** Creates the job, or returns the existing job with its Idempotency-Key. */
async function submit(
  parts: JobsParts & {
    readonly jobs: Batches<SubmittedJob, Submitted>;
    readonly absentIsFalse: boolean;
  },
  caller: Caller,
  request: SubmitTranscriptJobRequest,
  key: string | null,
): Promise<StoredJob> {
  const { db, jobs, uploads, meter, now = Date.now } = parts;
  const { accountId, keyId = null } = caller;
  const at = now();
  const requestSha256 = key === null ? null : hashOf(request);
  if (key !== null) await forgetKey(db, accountId, key, new Date(at - keyMs));
  const earlier = await jobOfKey(db, accountId, key, requestSha256);
  if (earlier) return earlier;
  const { metadata, source, hints, writing, violations } = checkSubmit(request, parts);
  if (source && "uploadId" in source) await uploads.collectUpload(accountId, source.uploadId);
  if (!source || violations.length > 0) {
    const missing = source && (await missingUpload(db, accountId, source));
    throw invalidArgument(missing ? [...violations, missing] : violations);
  }
  await meter.checkAudio(caller);
  const limits = await meter.limitsOf(caller);
  const jobsMax = { account: limits.account.queuedJobs, key: limits.key.queuedJobs };
  const submitted = await jobs.add({
    id: newId(at),
    accountId,
    keyId,
    jobsMax,
    metadata,
    source,
    hints,
    ignoresVocabulary: request.ignoreVocabulary,
    writing,
    idempotencyKey: key,
    requestSha256,
    traceparent: currentTraceparent(),
    now: new Date(at),
  });
  if (typeof submitted !== "string") return submitted;
  // A concurrent submit with the key may have created the job, and used the upload for it.
  const job = await jobOfKey(db, accountId, key, requestSha256);
  if (job) return job;
  if (submitted === "NO_UPLOAD") throw invalidArgument([noUpload(source)]);
  if (submitted === "ACCOUNT_FULL") throw tooManyJobs("account", jobsMax.account);
  if (submitted === "KEY_FULL") throw tooManyJobs("key", jobsMax.key);
  throw new Error("a job that was inserted is gone");
}

/**
 * Returns the violation for a missing upload that a submit names, in addition to the other
 * violations.
 */
async function missingUpload(
  db: Kysely<Tables>,
  accountId: string,
  source: SubmittedJob["source"],
): Promise<FieldViolation | undefined> {
  if (!("uploadId" in source)) return undefined;
  const found = await lockUploadMedia(db, [{ accountId, uploadId: source.uploadId }]);
  return found.size > 0 ? undefined : noUpload(source);
}

function noUpload(source: SubmittedJob["source"]): FieldViolation {
  const name = "uploadId" in source ? `uploads/${source.uploadId}` : "";
  return { field: "uri", description: `${name} is not a finished upload of this account` };
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
      description: `must be 1 to ${keyCharsMax} visible ASCII characters`,
    },
  ]);
}

/** Returns the hash of a request, independent of the order of its fields and map entries. */
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
