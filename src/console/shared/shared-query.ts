import { queryOptions } from "@tanstack/react-query";
import type { TranscriptJson } from "../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { callConsole } from "../api/call-api.ts";

/** Queries the transcript that the token of a link shows, without a session. */
export function sharedQuery(token: string) {
  return queryOptions({
    queryKey: ["shared", token],
    queryFn: ({ signal }) =>
      callConsole<TranscriptJson>(`/v1alpha1/shared/${encodeURIComponent(token)}`, { signal }),
    structuralSharing: false,
    refetchOnWindowFocus: false,
    staleTime: 30_000,
  });
}
