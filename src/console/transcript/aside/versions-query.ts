import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import type {
  ListTranscriptVersionsResponseJson,
  TranscriptDiffJson,
} from "../../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { callApi } from "../../api/call-api.ts";
import { inTurn } from "./in-turn.ts";

/** Versions that are shown first, and with each press on "older" from then on. */
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

/** More runs than any difference has: the answer has the counts alone. */
const pastAllRuns = 2 ** 31 - 1;

/** How many may be compared at a time, so that the rest of the page gets its answers too. */
const countsAtATime = 2;

const countInTurn = inTurn(countsAtATime);

/**
 * What a version changed of the one before, in numbers: versions never change, so this does not
 * either.
 */
export function countsQuery(name: string, version: string) {
  return queryOptions({
    queryKey: ["transcript-counts", name, version],
    queryFn: ({ signal }) =>
      countInTurn(signal, () => readDiff(name, { version, skip: pastAllRuns }, signal)),
    staleTime: Infinity,
  });
}

/**
 * What is different in one version, seen from another, or from the one before where `against` is
 * "". Its runs in pages.
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
