import { Code, ConnectError } from "@connectrpc/connect";
import { ErrorInfoSchema, RetryInfoSchema } from "../../gen/google/rpc/error_details_pb.ts";
import { msOfDuration } from "../../std/duration.ts";
import { ApiError, offlineError } from "../api/api-error.ts";
import { retryDelayMs } from "./retry-delay.ts";

/** Why a live stream ended before its audio did, and when to start another one. */
export interface StreamFailure {
  readonly error: ApiError;
  /** The delay in ms. 0 means immediately; undefined means only when the user requests it. */
  readonly retryMs: number | undefined;
}

/**
 * Explains a failure of recognizeLive(). `failures` is the number of earlier failures since words
 * last arrived.
 */
export function failureOf(cause: unknown, failures: number): StreamFailure {
  const error = apiErrorOf(cause);
  const later = retryDelayMs(failures);
  if (error.reason === streamTooLong) return { error, retryMs: failures === 0 ? 0 : later };
  if (!isTemporary(error)) return { error, retryMs: undefined };
  return { error, retryMs: Math.max(later, error.retryAfterMs ?? 0) };
}

/**
 * The reason when a stream has reached HLUST_STREAM_SECONDS_MAX. The next stream then takes over.
 */
const streamTooLong = "STREAM_TOO_LONG";

/** Reasons for status 429 that persist until the next day. */
const lasting: ReadonlySet<string> = new Set(["AUDIO_LIMIT"]);

function isTemporary({ status, reason }: ApiError): boolean {
  return status === 0 || status >= 500 || (status === 429 && !lasting.has(reason));
}

/**
 * Converts an error to the ApiError that other calls of the console throw, so that pages explain it
 * in the same words.
 */
function apiErrorOf(cause: unknown): ApiError {
  if (cause instanceof ApiError) return cause;
  if (!(cause instanceof ConnectError)) return offlineError();
  const [info] = cause.findDetails(ErrorInfoSchema);
  const [retry] = cause.findDetails(RetryInfoSchema);
  // There was no response: the connection was lost, or the service became unavailable.
  if (cause.code === Code.Unavailable && !info) return offlineError();
  return new ApiError(cause.rawMessage, {
    status: statuses[cause.code] ?? 503,
    reason: info?.reason ?? "UNKNOWN",
    metadata: info?.metadata ?? {},
    retryAfterMs: retry?.retryDelay && msOfDuration(retry.retryDelay),
  });
}

/** The HTTP statuses of codes that are not temporary; all other codes count as 503. */
const statuses: Partial<Record<Code, number>> = {
  [Code.InvalidArgument]: 400,
  [Code.FailedPrecondition]: 400,
  [Code.PermissionDenied]: 403,
  [Code.NotFound]: 404,
  [Code.Unimplemented]: 404,
  [Code.ResourceExhausted]: 429,
  // A token is valid for one stream and one minute. Creating another token shows whether the
  // session has ended.
  [Code.Unauthenticated]: 503,
};
