import { ServiceError, shown } from "../std/service-error.ts";
import { headerOf, type HttpRequest } from "./http.ts";

/** The maximum delay of a Node timer, 24.8 days. No call lasts this long. */
const timeoutMsMax = 2 ** 31 - 1;

/**
 * Returns the client's deadline in milliseconds. The deadline is Grpc-Timeout as in gRPC ("1500m"),
 * or X-Server-Timeout in seconds ("1.5"), as sent by Google's REST clients; the shorter one if both
 * are sent. Returns undefined if there is no deadline. Throws invalid_argument.
 */
export function callTimeoutMs(request: HttpRequest): number | undefined {
  const grpc = headerOf(request, "grpc-timeout");
  const seconds = headerOf(request, "x-server-timeout");
  if (grpc === undefined && seconds === undefined) return undefined;
  const timeoutsMs = [
    grpc === undefined ? Infinity : msOfGrpcTimeout(grpc),
    seconds === undefined ? Infinity : msOfSeconds(seconds),
  ];
  return Math.min(...timeoutsMs, timeoutMsMax);
}

const msOfUnit: Readonly<Record<string, number>> = {
  H: 3_600_000,
  M: 60_000,
  S: 1_000,
  m: 1,
  u: 1e-3,
  n: 1e-6,
};

function msOfGrpcTimeout(text: string): number {
  const [, digits, unit = ""] = /^(\d{1,8})([HMSmun])$/.exec(text) ?? [];
  const msEach = msOfUnit[unit];
  if (digits !== undefined && msEach !== undefined) return Number(digits) * msEach;
  throw malformed("Grpc-Timeout", text, "up to 8 digits and one of H, M, S, m, u, n");
}

function msOfSeconds(text: string): number {
  if (/^\d{1,9}(?:\.\d{0,9})?$/.test(text)) return Number(text) * 1_000;
  throw malformed("X-Server-Timeout", text, "seconds, such as 1.5");
}

function malformed(name: string, value: string, expected: string): ServiceError {
  const problem = `the header ${name} is ${shown(value)}: expected ${expected}`;
  return new ServiceError("invalid_argument", problem, { reason: "MALFORMED_TIMEOUT" });
}
