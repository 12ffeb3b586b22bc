import { STATUS_CODES } from "node:http";
import type { ErrorCode } from "../std/error-codes.ts";
import { ServiceError } from "../std/service-error.ts";
import { StatusError } from "./media-answer.ts";

/** Returns whether another attempt may succeed. */
export function isPassing(error: unknown): boolean {
  if (error instanceof StatusError)
    return [408, 425, 429].includes(error.status) || error.status >= 500;
  if (error instanceof ServiceError) return error.reason === "MEDIA_BROKEN";
  return explanationOf(error)?.passes === true;
}

/**
 * Returns the failure of a transfer, with a message for the caller. Other errors are returned
 * unchanged.
 */
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

function explainStatus({ status, retryAfterMs }: StatusError): ServiceError {
  const name = STATUS_CODES[status];
  const later =
    retryAfterMs === undefined
      ? ""
      : ` and asks to retry after ${Math.ceil(retryAfterMs / 1000)} s`;
  return new ServiceError(
    statusCodes[status] ?? (status >= 500 ? "unavailable" : "failed_precondition"),
    `the server of the media answered ${status}${name === undefined ? "" : ` ${name}`}${later}`,
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

const unknownHost: Explanation = {
  code: "not_found",
  reason: "MEDIA_HOST_UNKNOWN",
  message: "the host of the media does not exist: no such name",
  passes: false,
};

const brokenOff = unreachable("the server of the media closed the connection");
const noRoute = unreachable("the host of the media could not be reached");
const noRouteInTime = unreachable("the host of the media could not be reached in time");

/** The explanations for error codes from Node, OpenSSL and undici. */
const explanations: Readonly<Record<string, Explanation>> = {
  EAI_AGAIN: {
    ...unknownHost,
    message: "the name of the host of the media could not be looked up",
    passes: true,
  },
  ENOTFOUND: unknownHost,
  ECONNREFUSED: unreachable("the host of the media refused the connection"),
  ECONNABORTED: brokenOff,
  ECONNRESET: brokenOff,
  EPIPE: brokenOff,
  UND_ERR_SOCKET: brokenOff,
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: brokenOff,
  EADDRNOTAVAIL: noRoute,
  EHOSTDOWN: noRoute,
  EHOSTUNREACH: noRoute,
  ENETDOWN: noRoute,
  ENETUNREACH: noRoute,
  ETIMEDOUT: noRouteInTime,
  UND_ERR_CONNECT_TIMEOUT: noRouteInTime,
  UND_ERR_HEADERS_TIMEOUT: unreachable("the server of the media did not answer in time"),
  UND_ERR_HEADERS_OVERFLOW: notHttp("the server of the media answered too many headers"),
  CERT_HAS_EXPIRED: untrusted("the certificate of the host of the media has expired"),
  CERT_NOT_YET_VALID: untrusted("the certificate of the host of the media is not valid yet"),
  DEPTH_ZERO_SELF_SIGNED_CERT: untrusted("the certificate of the host of the media is self-signed"),
  ERR_TLS_CERT_ALTNAME_INVALID: untrusted(
    "the certificate of the host of the media is of another host",
  ),
};

function unreachable(message: string): Explanation {
  return { code: "unavailable", reason: "MEDIA_UNREACHABLE", message, passes: true };
}

function untrusted(message: string): Explanation {
  return { code: "failed_precondition", reason: "MEDIA_TLS", message, passes: false };
}

function notHttp(message: string): Explanation {
  return { code: "failed_precondition", reason: "MEDIA_NOT_HTTP", message, passes: false };
}

function explanationOf(error: unknown): Explanation | undefined {
  for (let at: unknown = error; at instanceof Error; at = at.cause) {
    const explanation = explainOne(at);
    if (explanation) return explanation;
    if (at instanceof AggregateError) {
      const first = at.errors.map(explanationOf).find((found) => found !== undefined);
      if (first) return first;
    }
  }
  return undefined;
}

/**
 * Returns whether this is an OpenSSL code for a refused certificate. UNSPECIFIED is the code for a
 * weak key or digest.
 */
export function isUntrusted(code: string): boolean {
  return /^(CERT_|CRL_|DEPTH_ZERO|ERROR_IN_C|HOSTNAME_|INVALID_(CA|PURPOSE)|PATH_LENGTH|SELF_SIGNED|UNABLE_TO|UNSPECIFIED)/.test(
    code,
  );
}

/**
 * Returns whether this is an undici code for an invalid response. A status below 100 causes an
 * assertion error.
 */
export function isUnreadable(code: string): boolean {
  return /^(HPE_|UND_ERR_RES|UND_ERR_INFO|ERR_ASSERTION$)/.test(code);
}

function explainOne(error: Error): Explanation | undefined {
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  if (explanations[code]) return explanations[code];
  // A name that is too long causes EINVAL.
  if ("syscall" in error && error.syscall === "getaddrinfo") return unknownHost;
  if (isUntrusted(code)) {
    return untrusted(
      `the certificate of the host of the media is not one that can be trusted (${code})`,
    );
  }
  if (/^(ERR_TLS_|ERR_SSL_|EPROTO$)/.test(code)) {
    return untrusted(`no secure connection to the host of the media can be made (${code})`);
  }
  // undici omits the code of some parser errors. The only transient one is the end of the
  // connection.
  if (error.name === "HTTPParserError" && error.message.includes("Invalid EOF state"))
    return brokenOff;
  if (error.name === "HTTPParserError" || isUnreadable(code)) {
    return notHttp("the server of the media does not answer in HTTP");
  }
  return undefined;
}
