import { queryOptions } from "@tanstack/react-query";
import type { CountTranscriptsResponseJson } from "../../gen/hlust/transcripts/v1alpha1/several_pb.ts";
import { callApi } from "../api/call-api.ts";

/** Counts the transcripts that match a filter, and the values that they have. */
export function countsQuery(filter: string) {
  const query = filter === "" ? "" : `?${new URLSearchParams({ filter }).toString()}`;
  return queryOptions({
    queryKey: ["transcripts", "counts", filter],
    queryFn: ({ signal }) =>
      callApi<CountTranscriptsResponseJson>(`/v1alpha1/transcripts:count${query}`, { signal }),
  });
}
