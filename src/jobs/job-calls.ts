import type { ServiceImpl } from "@connectrpc/connect";
import type { Transcripts } from "../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { readPageRequest } from "../std/page-request.ts";
import { invalidArgument } from "../std/service-error.ts";
import { endMethods } from "./end-methods.ts";
import { findJob } from "./job-store.ts";
import { listJobs } from "./job-lists.ts";
import { JobWatchers } from "./job-watchers.ts";
import type { JobsParts } from "./jobs-service.ts";
import { jobOf, type StoredJob } from "./stored-job.ts";
import { createSubmitJob, type SubmitJob } from "./submit-job.ts";

/** The jobs of accounts, for the methods of other services that submit and poll them. */
export interface JobCalls extends Pick<
  ServiceImpl<typeof Transcripts>,
  "cancelTranscriptJob" | "deleteTranscriptJob"
> {
  readonly submit: SubmitJob;
  /** Finds a job. Returns undefined if the account has no such job. */
  find(accountId: string, id: string): Promise<StoredJob | undefined>;
  /** Yields a job and its changes, as JobWatchers.watch() does. */
  watch(accountId: string, id: string, signal: AbortSignal): AsyncIterable<StoredJob>;
  /** Returns a page of jobs, newest first. Throws invalid_argument for an invalid page. */
  list(
    accountId: string,
    page: { readonly pageSize: number; readonly pageToken: string },
  ): Promise<{ readonly jobs: readonly StoredJob[]; readonly nextPageToken: string }>;
}

export function createJobCalls(parts: JobsParts): JobCalls {
  const { db, pageTokens, watches } = parts;
  const watchers = new JobWatchers(db, watches);
  return {
    ...endMethods(parts),
    submit: createSubmitJob(parts),
    find: (accountId, id) => findJob(db, accountId, id),
    watch: (accountId, id, signal) => watchers.watch(accountId, id, signal),
    async list(accountId, request) {
      const scope = { collection: "operations", accountId, filter: "" };
      const page = readPageRequest(pageTokens, scope, request);
      if ("length" in page) throw invalidArgument(page);
      const { rows, next } = await listJobs(db, accountId, page);
      return { jobs: rows.map(jobOf), nextPageToken: next ? pageTokens.write(scope, next) : "" };
    },
  };
}
