import { STATUS_CODES } from "node:http";
import { ServiceError, type ErrorCode } from "../std/service-error.ts";
import { StatusError } from "./media-hop.ts";

/** Whether another try may go better. */
export function isPassing(error: unknown): boolean {
  if (error instanceof StatusError)
    return (
      error.status === 408 || error.status === 425 || error.status === 429 || error.status >= 500
    );
  if (error instanceof ServiceError) return error.reason === "MEDIA_BROKEN";
  return explanationOf(error)?.passes === true;
}

/** The failure of a transfer in words for the caller; what is no failure of a transfer comes back as it is. */
export function explainTransfer(
  error: unknown,
  { received, size }: { readonly received: number; readonly size: number | undefined },
): unknown {
  if (error instanceof StatusError) return explainStatus(error);
  if (error instanceof ServiceError && error.reason !== "MEDIA_BROKEN") return error;
  if (received > 0) {
    const of = size === undefined ? "" : ` of ${size}`;
    return new ServiceError(
      "unavailable",
      `the connection to the server of the media broke after ${received}${of} bytes`,
      { reason: "MEDIA_BROKEN", cause: error },
    );
  }
  const explanation = explanationOf(error);
  if (!explanation) return error;
  return new ServiceError(explanation.code, explanation.message, {
    reason: explanation.reason,
    cause: error,
  });
}

function explainStatus({ status }: StatusError): ServiceError {
  const name = STATUS_CODES[status];
  return new ServiceError(
    statusCodes[status] ?? (status >= 500 ? "unavailable" : "failed_precondition"),
    `the server of the media answered ${status}${name === undefined ? "" : ` ${name}`}`,
    { reason: "MEDIA_STATUS" },
  );
}

const statusCodes: Readonly<Record<number, ErrorCode>> = {
  401: "permission_denied",
  403: "permission_denied",
  404: "not_found",
  410: "not_found",
  429: "unavailable",
};

interface Explanation {
  readonly code: ErrorCode;
  readonly reason: string;
  readonly message: string;
  readonly passes: boolean;
}

const unknownHost = { code: "not_found", reason: "MEDIA_HOST_UNKNOWN" } as const;
const unreachable = { code: "unavailable", reason: "MEDIA_UNREACHABLE", passes: true } as const;

/** By the code of the error, of Node, OpenSSL or undici. */
const explanations: Readonly<Record<string, Explanation>> = {
  ENOTFOUND: {
    ...unknownHost,
    message: "the host of the media does not exist: no such name",
    passes: false,
  },
  EAI_AGAIN: {
    ...unknownHost,
    message: "the name of the host of the media could not be looked up",
    passes: true,
  },
  ECONNREFUSED: { ...unreachable, message: "the host of the media refused the connection" },
  ECONNRESET: { ...unreachable, message: "the server of the media broke the connection off" },
  EPIPE: { ...unreachable, message: "the server of the media broke the connection off" },
  UND_ERR_SOCKET: { ...unreachable, message: "the server of the media broke the connection off" },
  ETIMEDOUT: { ...unreachable, message: "the host of the media could not be reached in time" },
  EHOSTUNREACH: { ...unreachable, message: "the host of the media could not be reached" },
  ENETUNREACH: { ...unreachable, message: "the host of the media could not be reached" },
  UND_ERR_CONNECT_TIMEOUT: {
    ...unreachable,
    message: "the host of the media could not be reached in time",
  },
  UND_ERR_HEADERS_TIMEOUT: {
    ...unreachable,
    message: "the server of the media did not answer in time",
  },
};

function explanationOf(error: unknown): Explanation | undefined {
  for (let at: unknown = error; at instanceof Error; at = at.cause) {
    // undici leaves the code of some parser errors out.
    const fallback = at.name === "HTTPParserError" ? "HPE_" : "";
    const code = "code" in at && typeof at.code === "string" ? at.code : fallback;
    const explanation = explanations[code] ?? explainFamily(code);
    if (explanation) return explanation;
    if (at instanceof AggregateError) {
      const first = at.errors.map(explanationOf).find((found) => found !== undefined);
      if (first) return first;
    }
  }
  return undefined;
}

function explainFamily(code: string): Explanation | undefined {
  if (/^(CERT_|ERR_TLS_|ERR_SSL_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO)/.test(code)) {
    return {
      code: "failed_precondition",
      reason: "MEDIA_TLS",
      message: `the host of the media cannot be trusted: ${code}`,
      passes: false,
    };
  }
  if (/^(HPE_|UND_ERR_HEADERS_OVERFLOW|UND_ERR_RES|UND_ERR_INFO)/.test(code)) {
    return {
      code: "failed_precondition",
      reason: "MEDIA_NOT_HTTP",
      message: "the server of the media does not answer in HTTP",
      passes: false,
    };
  }
  return undefined;
}
