import { queryOptions } from "@tanstack/react-query";
import type { ListUsageDaysResponseJson } from "../../gen/hlust/accounts/v1/accounts_pb.ts";
import type { ListTranscriptsResponseJson } from "../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { callApi } from "../api/call-api.ts";
import { accountQuery } from "../api/recording-defaults.ts";
import { listJobs } from "../jobs/job.ts";
import { summaryOf } from "../transcripts/page-query.ts";

/**
 * How often the page is updated while it is visible. It is updated more often while jobs are
 * running.
 */
const pollMs = 20_000;
const runningPollMs = 2_000;
/** The maximum number of transcripts shown. */
const latestMax = 5;

/** The account, read again and again. */
export const polledAccountQuery = queryOptions({ ...accountQuery, refetchInterval: pollMs });

/** The last 31 days on which the account was used, newest first. */
export const usageDaysQuery = queryOptions({
  queryKey: ["usageDays"],
  queryFn: async ({ signal }) => {
    const answer = await callApi<ListUsageDaysResponseJson>("/v1/usageDays", { signal });
    return answer.usageDays ?? [];
  },
  refetchInterval: pollMs,
});

/** The latest jobs. Code that submits a job invalidates ["jobs"]. */
export const latestJobsQuery = queryOptions({
  queryKey: ["jobs", "latest"],
  queryFn: async ({ signal }) => (await listJobs("", signal)).jobs,
  refetchInterval: ({ state }) =>
    state.data?.some((job) => job.state.kind === "PROCESSING") ? runningPollMs : pollMs,
});

export const latestTranscriptsQuery = queryOptions({
  queryKey: ["transcripts", "latest"],
  queryFn: async ({ signal }) => {
    const path = `/v1alpha1/transcripts?pageSize=${latestMax}`;
    const { transcripts = [] } = await callApi<ListTranscriptsResponseJson>(path, { signal });
    return transcripts.map(summaryOf);
  },
  refetchInterval: pollMs,
});
