import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import type {
  ListTranscriptVersionsResponseJson,
  TranscriptDiffJson,
} from "../../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { callApi } from "../../api/call-api.ts";
import { limitConcurrency } from "./limit-concurrency.ts";

/** The number of versions on the first page and on each later page. */
const pageSizes = { first: 8, later: 50 } as const;

/** The versions of a transcript, newest first. */
export function versionsQuery(name: string) {
  return infiniteQueryOptions({
    queryKey: ["transcript-versions", name],
    queryFn: ({ pageParam, signal }) => {
      const pageSize = pageParam === "" ? pageSizes.first : pageSizes.later;
      const page = new URLSearchParams({ pageSize: `${pageSize}`, pageToken: pageParam });
      return callApi<ListTranscriptVersionsResponseJson>(`/v1alpha1/${name}/versions?${page}`, {
        signal,
      });
    },
    initialPageParam: "",
    getNextPageParam: ({ nextPageToken = "" }) =>
      nextPageToken === "" ? undefined : nextPageToken,
  });
}

/** A position after all runs of any diff, so that the response contains only the counts. */
const pastAllRuns = 2 ** 31 - 1;

/**
 * The maximum number of diffs requested concurrently, so that the page's other calls are not
 * delayed.
 */
const concurrentDiffsMax = 2;

const limited = limitConcurrency(concurrentDiffsMax);

/**
 * The counts of the changes in a version. The counts are never refetched, because versions are
 * immutable.
 */
export function countsQuery(name: string, version: string) {
  return queryOptions({
    queryKey: ["transcript-counts", name, version],
    queryFn: ({ signal }) =>
      limited(signal, () => readDiff(name, { version, skip: pastAllRuns }, signal)),
    staleTime: Infinity,
  });
}

/**
 * The differences between a version and another version, or the previous version if `against` is
 * "". The runs are read in pages.
 */
export function diffQuery(name: string, version: string, against: string) {
  return infiniteQueryOptions({
    queryKey: ["transcript-diff", name, version, against],
    queryFn: ({ pageParam, signal }) =>
      readDiff(name, { version, against, skip: pageParam }, signal),
    initialPageParam: 0,
    getNextPageParam: ({ runCount = 0, runs = [] }, _pages, skip) => {
      const read = skip + runs.length;
      return runs.length > 0 && read < runCount ? read : undefined;
    },
    staleTime: Infinity,
  });
}

function readDiff(
  name: string,
  {
    version,
    against = "",
    skip,
  }: { readonly version: string; readonly against?: string; readonly skip: number },
  signal: AbortSignal,
): Promise<TranscriptDiffJson> {
  const query = new URLSearchParams({ against, skip: `${skip}` });
  const path = `/v1alpha1/${name}/versions/${encodeURIComponent(version)}:diff`;
  return callApi(`${path}?${query}`, { signal });
}
