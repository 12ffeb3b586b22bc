import { queryOptions } from "@tanstack/react-query";
import type {
  TranscriptJobJson,
  TranscriptJson,
} from "../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { ApiError } from "../api/api-error.ts";
import { callApi } from "../api/call-api.ts";

/**
 * The polling interval, and the maximum number of polls, for a waveform that is being computed.
 */
const waveformWait = { everyMs: 5_000, timesMax: 24 };

/**
 * Queries a transcript with its text. `name` is transcripts/<transcript_id>; `version` is the id of
 * an earlier version. Responses can be many megabytes, so they are neither compared nor refetched
 * unnecessarily.
 */
export function transcriptQuery(name: string, version?: string) {
  const path = version === undefined ? name : `${name}/versions/${encodeURIComponent(version)}`;
  return queryOptions({
    queryKey: ["transcript", name, version ?? "current"],
    queryFn: ({ signal }) => callApi<TranscriptJson>(`/v1alpha1/${path}`, { signal }),
    structuralSharing: false,
    refetchOnWindowFocus: false,
    staleTime: 30_000,
    refetchInterval: ({ state: { data, dataUpdateCount } }) =>
      data && !isDescribed(data) && dataUpdateCount < waveformWait.timesMax
        ? waveformWait.everyMs
        : false,
  });
}

/** Whether the service has described the media; true if there is none. */
function isDescribed({ uri = "", metadata }: TranscriptJson): boolean {
  return uri === "" || (metadata?.waveformUri ?? "") !== "";
}

/**
 * Returns the job whose id is in the address instead of a transcript's id; null if there is no such
 * job.
 */
export function jobInsteadQuery(id: string) {
  return queryOptions({
    queryKey: ["transcript", "job", id],
    queryFn: async ({ signal }): Promise<TranscriptJobJson | null> => {
      try {
        return await callApi<TranscriptJobJson>(
          `/v1alpha1/transcriptjob/${encodeURIComponent(id)}`,
          {
            signal,
          },
        );
      } catch (error) {
        if (error instanceof ApiError && error.status < 500 && error.status > 0) return null;
        throw error;
      }
    },
    refetchInterval: ({ state }) => (state.data?.state === "PROCESSING" ? 3_000 : false),
  });
}
