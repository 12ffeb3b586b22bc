import { create, createRegistry } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { callerOf } from "../auth/caller.ts";
import { file_google_rpc_error_details } from "../gen/google/rpc/error_details_pb.ts";
import {
  ListTranscriptJobsResponseSchema,
  TranscriptJob_State as State,
  TranscriptJobSchema,
  type SubmitTranscriptJobRequest,
  type TranscriptJob,
  type Transcripts,
} from "../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import type { MediaStore } from "../media/media-store.ts";
import { readPageRequest } from "../std/page-request.ts";
import type { PageTokens } from "../std/page-token.ts";
import { invalidArgument } from "../std/service-error.ts";
import { attachRawList } from "../std/raw-field.ts";
import type { NodeWatches } from "../watches/node-watches.ts";
import { parseFilter } from "../transcripts/filter.ts";
import type { SearchLimitsOf } from "../transcripts/search-limits.ts";
import type { TranscriptWatchers } from "../transcripts/transcript-watchers.ts";
import { checkSubmit } from "./check-submit.ts";
import { endMethods } from "./end-methods.ts";
import { jobMessage, submittedMessage } from "./job-message.ts";
import { jobIdIn, jobNotFound } from "./job-name.ts";
import { findJob } from "./job-store.ts";
import { findJobsOf, listJobs } from "./job-lists.ts";
import { JobWatchers } from "./job-watchers.ts";
import { listedJob } from "./listed-job.ts";
import { QueuePlaces } from "./queue-places.ts";
import { jobOf, type JobRow, type StoredJob } from "./stored-job.ts";
import { retryMethod } from "./retry-method.ts";
import { createSubmitJob, idempotencyKeyOf, type SubmitParts } from "./submit-job.ts";
import { createWatchJobs } from "./watch-jobs.ts";
import { createWatchAccount } from "./watch-account.ts";

export interface JobsParts extends SubmitParts {
  readonly store: MediaStore;
  readonly pageTokens: PageTokens;
  readonly searchLimits: SearchLimitsOf;
  /** What all watches of this node share. */
  readonly watches: NodeWatches;
  /** The watches of single transcripts of this node. */
  readonly transcriptWatchers: TranscriptWatchers;
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
  | "retryTranscriptJob"
>;

/** The states that a filter can name. */
const jobStates = Object.keys(State);

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
  const submit = createSubmitJob(parts);
  const watchers = new JobWatchers(db, watches);
  const places = new QueuePlaces(db);
  const watchJobs = createWatchJobs(db, watches, places);
  const watchAccount = createWatchAccount(watchJobs, parts.transcriptWatchers);
  return {
    async submitTranscriptJob(request, context) {
      const key = idempotencyKeyOf(context);
      // JSON can express a false `useUri`; a binary message of a client of the original cannot.
      const absentIsFalse = ["grpc", "grpc-web", "connect"].includes(context.protocolName);
      if (request.validateOnly) return validated(request, { ...parts, absentIsFalse });
      return submittedMessage(await submit(callerOf(context), request, { key, absentIsFalse }));
    },

    async getTranscriptJob({ name }, context) {
      const { accountId } = callerOf(context);
      const job = await findJob(db, accountId, jobIdIn(name));
      if (!job) throw jobNotFound(name);
      return jobMessage(job, (await places.of([job])).get(job.id));
    },

    async *watchTranscriptJob({ name }, context) {
      const { accountId } = callerOf(context);
      const jobs = watchers.watch(accountId, jobIdIn(name), context.signal);
      for await (const job of jobs) {
        const before = (await places.of([job])).get(job.id);
        yield before === undefined ? sharedMessage(job) : jobMessage(job, before);
      }
    },

    async *watchTranscriptJobs(request, context) {
      const { accountId } = callerOf(context);
      yield* watchAccount(accountId, request, context.signal);
    },

    async listTranscriptJobs(request, context) {
      const { accountId } = callerOf(context);
      const scope = { collection: "transcriptjob", accountId, filter: request.filter };
      const filter =
        request.filter === "" ? [] : parseFilter(request.filter, { states: jobStates });
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
      const before = await places.of(
        rows.map(({ state, progress_percent: progressPercent }) => ({ state, progressPercent })),
      );
      const message = (row: JobRow) => jobMessage(jobOf(row), before.get(row.id));
      attachRawList(answer, ListTranscriptJobsResponseSchema.field.jobs, rows, {
        schema: TranscriptJobSchema,
        json: (row) => listedJob(row, registry, before.get(row.id)),
        message,
      });
      return answer;
    },

    ...endMethods(parts),
    ...retryMethod({ db, submit }),
  };
}

/** Checks a request without creating a job. Throws for all violations in the request. */
function validated(
  request: SubmitTranscriptJobRequest,
  parts: Parameters<typeof checkSubmit>[1],
): TranscriptJob {
  const { metadata, violations } = checkSubmit(request, parts);
  if (violations.length > 0) throw invalidArgument(violations);
  return create(TranscriptJobSchema, { transcriptMetadata: metadata });
}
