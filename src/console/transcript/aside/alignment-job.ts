import { queryOptions } from "@tanstack/react-query";
import type {
  AlignmentJobJson,
  ListAlignmentJobsResponseJson,
} from "../../../gen/hlust/transcripts/v1alpha1/alignment_pb.ts";
import { ApiError } from "../../api/api-error.ts";
import { callApi } from "../../api/call-api.ts";

/** The polling interval while a job has not ended. */
const pollMs = 1_000;

/** Queries the latest alignment job of a transcript; null if there is none. */
export function alignmentQuery(name: string) {
  return queryOptions({
    queryKey: ["alignment", name],
    queryFn: async ({ signal }): Promise<AlignmentJobJson | null> => {
      const filter = encodeURIComponent(`transcript = "${name}"`);
      // The list, because GetAlignmentJob answers 404 for a transcript without jobs.
      const { jobs = [] } = await callApi<ListAlignmentJobsResponseJson>(
        `/v1alpha1/alignmentjobs?pageSize=1&filter=${filter}`,
        { signal },
      );
      return jobs[0] ?? null;
    },
    refetchInterval: ({ state: { data } }) => (data && isRunning(data) ? pollMs : false),
  });
}

/** Submits the version that the user sees. */
export async function submitAlignment(name: string, version: string): Promise<AlignmentJobJson> {
  const body = { transcript: `${name}/versions/${version}` };
  return await callApi<AlignmentJobJson>("/v1alpha1/alignmentjobs:submit", {
    method: "POST",
    body,
  });
}

export async function cancelAlignment({ name }: AlignmentJobJson): Promise<AlignmentJobJson> {
  return await callApi<AlignmentJobJson>(`/v1alpha1/${name}:cancel`, { method: "POST", body: {} });
}

/** Returns whether the job has not ended. */
export function isRunning({ state }: AlignmentJobJson): boolean {
  return state !== "SUCCESS" && state !== "ERROR" && state !== "CANCELLED";
}

/** Returns the error of a job, as that of a call. */
export function alignmentError({ error }: AlignmentJobJson): ApiError {
  const reasons = (error?.details ?? []).map((detail) => Reflect.get(detail, "reason"));
  const reason = reasons.find((each) => typeof each === "string") ?? "";
  return new ApiError(error?.message ?? "", { status: 400, reason });
}
