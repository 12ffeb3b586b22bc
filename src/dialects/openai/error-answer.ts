import { errorBody } from "../../server/answer-errors.ts";
import type { FailureAnswer } from "../../server/answer-failure.ts";
import type { ServiceError } from "../../std/service-error.ts";
import { fileErrorStatus } from "../file-error-status.ts";

/** The reason of a call for whose account no audio is left today. */
const dayIsUsed = "AUDIO_LIMIT";

/** The members that OpenAI's clients read of an error. */
export interface OpenAiError {
  readonly message: string;
  readonly type: string;
  readonly param: string | null;
  readonly code: string | null;
}

/**
 * Returns an error as OpenAI's service words it: one error, with the first wrong field as `param`.
 * Its clients repeat calls with status 408, 409, 429 and 500 and above.
 */
export function openAiErrorAnswer(error: ServiceError): FailureAnswer {
  const { headers } = errorBody(error);
  // Otherwise they repeat it at once, or sleep until the next day and say nothing.
  if (error.reason === dayIsUsed) headers["x-should-retry"] = "false";
  const status = fileErrorStatus(error);
  return { status, headers, body: JSON.stringify({ error: openAiError(error) }) };
}

export function openAiError(error: ServiceError): OpenAiError {
  const status = fileErrorStatus(error);
  const param = error.violations[0]?.field ?? null;
  return { message: error.message, ...kindOf(status, error), param };
}

function kindOf(status: number, { reason }: ServiceError): Pick<OpenAiError, "type" | "code"> {
  const ofRequest = "invalid_request_error";
  if (status === 401) return { type: ofRequest, code: "invalid_api_key" };
  if (status === 404) return { type: ofRequest, code: "model_not_found" };
  if (status === 429 && reason === dayIsUsed) {
    return { type: "insufficient_quota", code: "insufficient_quota" };
  }
  if (status === 429) return { type: "requests", code: "rate_limit_exceeded" };
  const code = reason === "INVALID_ARGUMENT" ? "invalid_value" : reason.toLowerCase();
  return { type: status >= 500 ? "server_error" : ofRequest, code };
}
