import { queryOptions } from "@tanstack/react-query";
import type {
  AccountJson,
  ListUsageDaysResponseJson,
} from "../../gen/hlust/accounts/v1/accounts_pb.ts";
import type { ListTranscriptsResponseJson } from "../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { callApi } from "../api/call-api.ts";
import { listJobs } from "../jobs/job.ts";
import { rowOf } from "../transcripts/page-query.ts";

/**
 * While the page is looked at, what it shows is at most so old; jobs that run are asked for more
 * often.
 */
const freshMs = 20_000;
const runningMs = 2_000;
/** So many of the latest are shown. */
const latestMax = 5;

export const accountQuery = queryOptions({
  queryKey: ["account"],
  queryFn: ({ signal }) => callApi<AccountJson>("/v1/account", { signal }),
  refetchInterval: freshMs,
});

/** The last 31 days with any use, newest first. */
export const usageDaysQuery = queryOptions({
  queryKey: ["usageDays"],
  queryFn: async ({ signal }) => {
    const answer = await callApi<ListUsageDaysResponseJson>("/v1/usageDays", { signal });
    return answer.usageDays ?? [];
  },
  refetchInterval: freshMs,
});

/** The latest jobs. Whoever submits one says that ["jobs"] have changed. */
export const latestJobsQuery = queryOptions({
  queryKey: ["jobs", "latest"],
  queryFn: async ({ signal }) => (await listJobs("", signal)).jobs,
  refetchInterval: ({ state }) =>
    state.data?.some((job) => job.state.kind === "PROCESSING") ? runningMs : freshMs,
});

export const latestTranscriptsQuery = queryOptions({
  queryKey: ["transcripts", "latest"],
  queryFn: async ({ signal }) => {
    const path = `/v1alpha1/transcripts?pageSize=${latestMax}`;
    const { transcripts = [] } = await callApi<ListTranscriptsResponseJson>(path, { signal });
    return transcripts.map(rowOf);
  },
  refetchInterval: freshMs,
});
