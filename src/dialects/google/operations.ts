import { create } from "@bufbuild/protobuf";
import { EmptySchema } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import { callerOf } from "../../auth/caller.ts";
import {
  ListOperationsResponseSchema,
  type Operation,
  type Operations,
} from "../../gen/google/longrunning/operations_pb.ts";
import {
  CancelTranscriptJobRequestSchema,
  DeleteTranscriptJobRequestSchema,
} from "../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import type { JobCalls } from "../../jobs/job-calls.ts";
import { hasEnded, type StoredJob } from "../../jobs/stored-job.ts";
import { msOfDuration } from "../../std/duration.ts";
import { idIn } from "../../std/ids.ts";
import { invalidArgument, ServiceError, shown } from "../../std/service-error.ts";
import type { ReadTranscript } from "../../transcripts/read-transcript.ts";
import { operationMessage, resultOf } from "./operation-message.ts";

/** How long WaitOperation waits if the caller does not say. */
const waitMsDefault = 30_000;
/** The longest time that WaitOperation waits. */
const waitMsMax = 60_000;

/** The jobs of accounts as google.longrunning.Operations. */
export function createOperations({
  jobs,
  read,
}: {
  readonly jobs: JobCalls;
  readonly read: ReadTranscript;
}): ServiceImpl<typeof Operations> {
  /** Returns an operation; once it is done, with its response or error. */
  const whole = async (job: StoredJob, signal: AbortSignal): Promise<Operation> => {
    const operation = operationMessage(job);
    if (operation.done) operation.result = await resultOf(job, { read, signal });
    return operation;
  };
  return {
    async getOperation({ name }, context) {
      const { accountId } = callerOf(context);
      const job = await jobs.find(accountId, jobIdOf(name));
      if (!job) throw operationNotFound(name);
      return await whole(job, context.signal);
    },

    async listOperations(request, context) {
      if (request.filter !== "") {
        const description = "is not supported: omit it, and the list has all operations";
        throw invalidArgument([{ field: "filter", description }]);
      }
      const { accountId } = callerOf(context);
      const { jobs: page, nextPageToken } = await jobs.list(accountId, request);
      return create(ListOperationsResponseSchema, {
        operations: page.map(operationMessage),
        nextPageToken,
      });
    },

    async waitOperation({ name, timeout }, context) {
      const { accountId } = callerOf(context);
      const id = jobIdOf(name);
      const first = await jobs.find(accountId, id);
      if (!first) throw operationNotFound(name);
      const ms = timeout ? msOfDuration(timeout) : waitMsDefault;
      const over = AbortSignal.timeout(Math.max(0, Math.min(ms, waitMsMax)));
      const last = await lastOf(jobs, first, { over, signal: context.signal });
      return await whole(last, context.signal);
    },

    async cancelOperation({ name }, context) {
      const request = create(CancelTranscriptJobRequestSchema, { name: jobNameOf(name) });
      try {
        await jobs.cancelTranscriptJob(request, context);
      } catch (error) {
        // Google's contract has no failure for an operation that is done.
        if (!(error instanceof ServiceError) || error.reason !== "JOB_ENDED")
          throw named(error, name);
      }
      return create(EmptySchema);
    },

    async deleteOperation({ name }, context) {
      const request = create(DeleteTranscriptJobRequestSchema, { name: jobNameOf(name) });
      try {
        await jobs.deleteTranscriptJob(request, context);
      } catch (error) {
        throw named(error, name);
      }
      return create(EmptySchema);
    },
  };
}

/** Returns the job once it has ended, or as it is when the time is over. */
async function lastOf(
  jobs: JobCalls,
  first: StoredJob,
  { over, signal }: { readonly over: AbortSignal; readonly signal: AbortSignal },
): Promise<StoredJob> {
  let last = first;
  if (hasEnded(first.state) || over.aborted) return last;
  try {
    const either = AbortSignal.any([over, signal]);
    for await (const job of jobs.watch(first.accountId, first.id, either)) last = job;
  } catch (error) {
    if (!over.aborted || signal.aborted) throw error;
  }
  return last;
}

/** Returns the id in operations/<id>. Throws if the name is malformed. */
function jobIdOf(name: string): string {
  const id = idIn("operations", name);
  if (id === undefined) throw operationNotFound(name);
  return id;
}

function jobNameOf(name: string): string {
  return `transcriptjob/${jobIdOf(name)}`;
}

function operationNotFound(name: string): ServiceError {
  return new ServiceError("not_found", `there is no operation ${shown(name)}`, {
    reason: "JOB_NOT_FOUND",
  });
}

/** Returns an error of a job's method with the name that the caller sent. */
function named(error: unknown, name: string): unknown {
  const isUnknown = error instanceof ServiceError && error.reason === "JOB_NOT_FOUND";
  return isUnknown ? operationNotFound(name) : error;
}
