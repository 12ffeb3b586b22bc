import { queryOptions } from "@tanstack/react-query";
import type {
  TranscriptJobJson,
  TranscriptJson,
} from "../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { ApiError } from "../api/api-error.ts";
import { callApi } from "../api/call-api.ts";

/** How often, and how many times, a waveform is looked for that is being made. */
const waveformWait = { everyMs: 5_000, timesMax: 24 };

/**
 * A transcript with its text: `name` is transcripts/<transcript_id>, `version` the id of an earlier
 * state of it. Its answers may be of many megabytes, so that they are neither compared nor asked
 * for again without need.
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

/** Whether the service has looked at the media yet; true where there is none. */
function isDescribed({ uri = "", metadata }: TranscriptJson): boolean {
  return uri === "" || (metadata?.waveformUri ?? "") !== "";
}

/** The job that an address may name in place of a transcript; null where there is none. */
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
