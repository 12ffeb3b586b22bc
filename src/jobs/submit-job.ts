import { createHash } from "node:crypto";
import { toJson, type JsonValue } from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";
import type { Kysely } from "kysely";
import { memberIdOf, type Caller } from "../auth/caller.ts";
import { tooManyJobs } from "../auth/limits.ts";
import type { Meter } from "../auth/meter.ts";
import type { Tables } from "../database/tables.ts";
import {
  SubmitTranscriptJobRequestSchema,
  type SubmitTranscriptJobRequest,
} from "../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import type { MediaAllowList } from "../media/media-url.ts";
import type { Uploads } from "../media/uploads.ts";
import { newId } from "../std/ids.ts";
import type { Log } from "../std/log.ts";
import { invalidArgument, ServiceError, shown, type FieldViolation } from "../std/service-error.ts";
import { currentTraceparent } from "../tracing/tracing.ts";
import type { Arrivals } from "./arrivals.ts";
import { checkSubmit, type CheckingRecognizer } from "./check-submit.ts";
import { findJobOfKey, forgetKey } from "./job-store.ts";
import { lockUploadMedia } from "./lock-media.ts";
import type { StoredJob } from "./stored-job.ts";
import { createSubmit, type SubmittedJob } from "./submit-jobs.ts";

export interface SubmitParts {
  readonly db: Kysely<Tables>;
  readonly arrivals: Pick<Arrivals, "announce">;
  readonly log: Log;
  readonly uploads: Pick<Uploads, "collectUpload">;
  readonly allow: MediaAllowList;
  readonly recognizer: CheckingRecognizer;
  /** Provides and checks the limits on unfinished jobs and on audio. */
  readonly meter: Pick<Meter, "limitsOf" | "checkAudio">;
  readonly now?: () => number;
}

export interface SubmitOptions {
  /** The Idempotency-Key; null if there is none. */
  readonly key: string | null;
  /** Whether an absent `useUri` is false. Default: it is a violation. */
  readonly absentIsFalse?: boolean;
  /**
   * The SHA-256 of the call, if the request was made from another message. Default: that of the
   * request.
   */
  readonly sha256?: Buffer;
  /**
   * Stores the media that came with the call, once the request and the limits allow the job.
   * Returns the id of its finished upload. The request then has no `uri`.
   */
  readonly storeContent?: () => Promise<string>;
  /** Whether a request without a source waits for content. Default: true. */
  readonly allowsLater?: boolean;
}

/**
 * Creates the job of a request (§4.1), or returns the existing job with its Idempotency-Key. Throws
 * invalid_argument with every violation, and for limits that are reached.
 */
export type SubmitJob = (
  caller: Caller,
  request: SubmitTranscriptJobRequest,
  options: SubmitOptions,
) => Promise<StoredJob>;

/** The time for which an Idempotency-Key refers to the same job (docs/api.md, Jobs). */
const keyMs = 24 * 3_600_000;
export const keyCharsMax = 255;

export function createSubmitJob(parts: SubmitParts): SubmitJob {
  const { db, uploads, meter, now = Date.now } = parts;
  const jobs = createSubmit(parts);
  return async (caller, request, options) => {
    const { key, absentIsFalse = false, sha256, storeContent, allowsLater = true } = options;
    const { accountId, keyId = null } = caller;
    const at = now();
    const requestSha256 = key === null ? null : (sha256 ?? hashOf(request));
    if (key !== null) await forgetKey(db, accountId, key, new Date(at - keyMs));
    const earlier = await jobOfKey(db, accountId, key, requestSha256);
    if (earlier) return earlier;
    const {
      metadata,
      source: given,
      hints,
      writing,
      model,
      speakersMax,
      violations,
    } = checkSubmit(request, {
      ...parts,
      absentIsFalse,
    });
    if (given && "isSentLater" in given && !allowsLater) violations.push(noRecording);
    if (given && "uploadId" in given) await uploads.collectUpload(accountId, given.uploadId);
    if (!given || violations.length > 0) {
      const missing = given && (await missingUpload(db, accountId, given));
      throw invalidArgument(missing ? [...violations, missing] : violations);
    }
    await meter.checkAudio(caller);
    const limits = await meter.limitsOf(caller);
    const jobsMax = { account: limits.account.queuedJobs, key: limits.key.queuedJobs };
    const source = storeContent ? { uploadId: await storeContent() } : given;
    const submitted = await jobs.add({
      id: newId(at),
      accountId,
      keyId,
      memberId: memberIdOf(caller) ?? null,
      jobsMax,
      metadata,
      source,
      hints,
      ignoresVocabulary: request.ignoreVocabulary,
      writing,
      model,
      speakersMax,
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
    if (submitted === "NO_TRANSCRIPT") throw invalidArgument([noTranscript(request.transcript)]);
    if (submitted === "NO_MEDIA") throw withoutMedia();
    if (submitted === "ACCOUNT_FULL") throw tooManyJobs("account", jobsMax.account);
    if (submitted === "KEY_FULL") throw tooManyJobs("key", jobsMax.key);
    throw new Error("a job that was inserted is gone");
  };
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

const noRecording: FieldViolation = {
  field: "uri",
  description:
    "is empty: the recording of the job was deleted, or has never arrived. Upload it, and submit a new job",
};

function noTranscript(name: string): FieldViolation {
  return { field: "transcript", description: `${name} is not a transcript of this account` };
}

/** Returns the error for a transcript that has no media, or whose media was deleted. */
function withoutMedia(): ServiceError {
  return new ServiceError(
    "failed_precondition",
    "the transcript has no media, so it cannot be transcribed again",
    { reason: "TRANSCRIPT_WITHOUT_MEDIA" },
  );
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

/** Returns the Idempotency-Key of a call; null if it has none. Throws if it is invalid. */
export function idempotencyKeyOf({
  requestHeader,
}: Pick<HandlerContext, "requestHeader">): string | null {
  const header = requestHeader.get("idempotency-key");
  if (header === null) return null;
  if (header.length <= keyCharsMax && /^[\x21-\x7e]+$/.test(header)) return header;
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
