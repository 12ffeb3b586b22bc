import type {
  SubmitTranscriptJobRequestJson,
  TranscriptJobJson,
} from "../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { ApiError, type FieldViolation } from "../api/api-error.ts";
import { type Call, callApi } from "../api/call-api.ts";

/**
 * Submits a recording (§4.1). With the same `key` it makes one job, however often it is sent.
 * Throws ApiError.
 */
export function submitJob(
  request: SubmitTranscriptJobRequestJson,
  { key, ...call }: { readonly key: string } & Pick<Call, "signal" | "owner">,
): Promise<TranscriptJobJson> {
  return callApi("/v1alpha1/transcriptjob:submit", {
    method: "POST",
    body: request,
    headers: { "idempotency-key": key },
    ...call,
  });
}

/**
 * What the service has against a job of a file that is still here, so that nobody sends gigabytes
 * for a wrong word: the job is submitted with a place that has got no file yet, which is always
 * refused, with all else that is wrong. Throws ApiError for what is no violation.
 */
export async function checkJob(
  metadata: SubmitTranscriptJobRequestJson["metadata"],
  emptyPlace: string,
): Promise<readonly FieldViolation[]> {
  try {
    const request = { ...(metadata && { metadata }), useUri: false, uri: emptyPlace };
    await submitJob(request, { key: crypto.randomUUID() });
    return [];
  } catch (error) {
    if (!(error instanceof ApiError) || error.violations.length === 0) throw error;
    return error.violations.filter(({ field }) => field !== "uri");
  }
}
