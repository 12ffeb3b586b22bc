import type { ServiceImpl } from "@connectrpc/connect";
import type { Kysely } from "kysely";
import { callerOf } from "../auth/caller.ts";
import type { Meter } from "../auth/meter.ts";
import type { Tables } from "../database/tables.ts";
import { AlignmentJob_State as State } from "../gen/hlust/transcripts/v1alpha1/alignment_pb.ts";
import type { Transcripts } from "../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import type { Arrivals } from "../jobs/arrivals.ts";
import { jobNotFound } from "../jobs/job-name.ts";
import type { Log } from "../std/log.ts";
import { readPageRequest } from "../std/page-request.ts";
import type { PageTokens } from "../std/page-token.ts";
import { invalidArgument, ServiceError, shown } from "../std/service-error.ts";
import { parseAlignmentFilter } from "./alignment-filter.ts";
import { alignmentMessage } from "./alignment-message.ts";
import { alignmentJobIdIn, transcriptRefIn } from "./alignment-names.ts";
import {
  cancelAlignment,
  findAlignment,
  findLatestAlignment,
  listAlignments,
} from "./alignment-store.ts";
import { AlignmentWatchers } from "./alignment-watchers.ts";
import { submitAlignment, type SubmitAlignmentParts } from "./submit-alignment.ts";

export interface AlignmentParts {
  readonly db: Kysely<Tables>;
  readonly pageTokens: PageTokens;
  readonly arrivals: Pick<Arrivals, "announce">;
  readonly aligner: SubmitAlignmentParts["aligner"];
  /** Provides the limits on unfinished jobs. */
  readonly meter: Pick<Meter, "limitsOf">;
  /** Ends the watches when the service stops. */
  readonly stopping?: AbortSignal;
  readonly log: Log;
  readonly now?: () => number;
}

/** The methods that align the words of transcripts to their sound. */
export function createAlignmentService(parts: AlignmentParts) {
  const { db, pageTokens, arrivals, stopping, log, now = Date.now } = parts;
  const watchers = new AlignmentWatchers(db, { stopping, log });
  return {
    async submitAlignmentJob({ transcript }, context) {
      const job = await submitAlignment({ ...parts, now }, callerOf(context), transcript);
      arrivals.announce();
      const message = alignmentMessage(job);
      if (job.state === "QUEUED") message.state = State.SUBMITTED;
      return message;
    },

    async getAlignmentJob({ resources }, context) {
      const { accountId } = callerOf(context);
      if (resources.case === undefined) {
        throw invalidArgument([{ field: "name", description: "or transcript is required" }]);
      }
      if (resources.case === "name") {
        const job = await findAlignment(db, accountId, alignmentJobIdIn(resources.value));
        if (!job) throw jobNotFound(resources.value);
        return alignmentMessage(job);
      }
      const transcript = transcriptRefIn(resources.value);
      const job = transcript && (await findLatestAlignment(db, accountId, transcript));
      if (!job) throw neverAligned(resources.value);
      return alignmentMessage(job);
    },

    async listAlignmentJobs(request, context) {
      const { accountId } = callerOf(context);
      const filter = parseAlignmentFilter(request.filter);
      const scope = { collection: "alignmentjobs", accountId, filter: request.filter };
      const page = readPageRequest(pageTokens, scope, request);
      const violations = Array.isArray(page) ? page : [];
      if ("field" in filter) throw invalidArgument([...violations, filter]);
      if (Array.isArray(page)) throw invalidArgument(page);
      const { jobs, next } = await listAlignments(db, { accountId, filter }, page);
      return {
        jobs: jobs.map(alignmentMessage),
        nextPageToken: next ? pageTokens.write(scope, next) : "",
      };
    },

    async cancelAlignmentJob({ name }, context) {
      const { accountId } = callerOf(context);
      const id = alignmentJobIdIn(name);
      const isCancelled = await cancelAlignment(db, accountId, id);
      const job = await findAlignment(db, accountId, id);
      if (!job) throw jobNotFound(name);
      if (isCancelled) return alignmentMessage(job);
      throw new ServiceError(
        "failed_precondition",
        `the job has already ended: its state is ${job.state}`,
        { reason: "JOB_ENDED" },
      );
    },

    async *watchAlignmentJobs({ filter: source, updateOnly }, context) {
      const { accountId } = callerOf(context);
      const filter = parseAlignmentFilter(source);
      if ("field" in filter) throw invalidArgument([filter]);
      const seen = watchers.watch(accountId, { filter, updateOnly }, context.signal);
      for await (const { isUpdate, jobs } of seen) {
        yield { update: isUpdate, jobs: jobs.map(alignmentMessage) };
      }
    },
  } satisfies Partial<ServiceImpl<typeof Transcripts>>;
}

function neverAligned(transcript: string): ServiceError {
  return new ServiceError("not_found", `there is no alignment job of ${shown(transcript)}`, {
    reason: "JOB_NOT_FOUND",
  });
}
