import type { JsonObject } from "@bufbuild/protobuf";
import { errorStatuses } from "../std/error-statuses.ts";
import { ServiceError } from "../std/service-error.ts";

/** The answer to a call that failed. */
export interface StatusAnswer {
  /** The HTTP status, as google.rpc.Code maps to it, or ServiceError.httpStatus. */
  readonly status: number;
  /** content-type, and allow (with 405) and retry-after (in seconds) where they apply. */
  readonly headers: Readonly<Record<string, string>>;
  /** A google.rpc.Status in JSON. */
  readonly body: string;
}

/**
 * Writes a failure as a google.rpc.Status in JSON with google.rpc.ErrorInfo, and with BadRequest
 * and RetryInfo where they apply. `domain` is ErrorInfo.domain, for example "library.example". Any
 * other value than a ServiceError is a bug of the server: the answer is 500, "internal", and says
 * nothing of the value.
 */
export function writeStatus(error: unknown, domain: string): StatusAnswer {
  const failure = error instanceof ServiceError ? error : new ServiceError("internal", "internal");
  const { code, message, reason, metadata, violations, retryAfterMs } = failure;
  const details: JsonObject[] = [
    detail("ErrorInfo", { reason, domain, metadata: { ...metadata } }),
  ];
  if (violations.length > 0) {
    const fieldViolations = violations.map(({ field, description }) => ({ field, description }));
    details.push(detail("BadRequest", { fieldViolations }));
  }
  const headers: Record<string, string> = { "content-type": "application/json" };
  if (metadata["allow"] !== undefined) headers["allow"] = metadata["allow"];
  if (retryAfterMs !== undefined) {
    details.push(detail("RetryInfo", { retryDelay: `${retryAfterMs / 1000}s` }));
    headers["retry-after"] = `${Math.ceil(retryAfterMs / 1000)}`;
  }
  const status = failure.httpStatus ?? errorStatuses[code].http;
  return {
    status,
    headers,
    body: JSON.stringify({ code: errorStatuses[code].code, message, details }),
  };
}

function detail(name: string, value: JsonObject): JsonObject {
  return { "@type": `type.googleapis.com/google.rpc.${name}`, ...value };
}
