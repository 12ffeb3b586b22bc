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
 * gigabytes for a job that is then refused. Throws ApiError for other errors.
 */
export async function checkJob(
  options: Omit<SubmitTranscriptJobRequestJson, "useUri" | "uri">,
): Promise<readonly FieldViolation[]> {
  try {
    // Without a uri, the content follows: the file is still to be uploaded.
    const request = { ...options, useUri: false, validateOnly: true };
    await callApi("/v1alpha1/transcriptjob:submit", { method: "POST", body: request });
    return [];
  } catch (error) {
    if (!(error instanceof ApiError) || error.violations.length === 0) throw error;
    return error.violations;
  }
}
