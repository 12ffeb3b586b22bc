import { errorBody } from "../server/answer-errors.ts";
import type { ServiceError } from "../std/service-error.ts";

/**
 * Returns the HTTP status of a failure with a recording. Media that cannot be decoded are the
 * client's: a status of 500 would make it send them again in vain.
 */
export function fileErrorStatus(error: ServiceError): number {
  const { status } = errorBody(error);
  return error.reason.startsWith("MEDIA_") && status >= 500 ? 400 : status;
}
