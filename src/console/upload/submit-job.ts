import type {
  SubmitTranscriptJobRequestJson,
  TranscriptJobJson,
} from "../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { ApiError, type FieldViolation } from "../api/api-error.ts";
import { type Call, callApi } from "../api/call-api.ts";

/**
 * Submits a recording (§4.1). Several requests with the same `key` create one job. Throws ApiError.
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
 * Returns the violations of a job before its file is uploaded, so that users do not upload
 * gigabytes for a job that is then refused. The job is submitted with an upload that has no file
 * yet. The service always refuses this job, and reports all other violations as well. Throws
 * ApiError for other errors.
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
