import { Code, ConnectError } from "@connectrpc/connect";
import { ErrorInfoSchema, RetryInfoSchema } from "../../gen/google/rpc/error_details_pb.ts";
import { msOfDuration } from "../../std/duration.ts";
import { ApiError, offlineError } from "../api/api-error.ts";

/** Why a live stream ended before its audio did, and when another one is worth a try. */
export interface StreamFailure {
  readonly error: ApiError;
  /** In ms; 0 at once, undefined: not by itself. */
  readonly retryMs: number | undefined;
}

/** The first, and then twice as long each time, up to the last. */
const retryMsMin = 500;
const retryMsMax = 10_000;

/**
 * What a failure of recognizeLive() means; `failures` of them came one after the other, without a
 * word between.
 */
export function failureOf(cause: unknown, failures: number): StreamFailure {
  const error = apiErrorOf(cause);
  const later = Math.min(retryMsMax, retryMsMin * 2 ** failures);
  if (error.reason === streamTooLong) return { error, retryMs: failures === 0 ? 0 : later };
  if (!mayPass(error)) return { error, retryMs: undefined };
  return { error, retryMs: Math.max(later, error.retryAfterMs ?? 0) };
}

/** A stream may last so long and no longer (HLUST_STREAM_SECONDS_MAX): the next one takes over. */
const streamTooLong = "STREAM_TOO_LONG";

/** Reasons of 429 that stay for the day. */
const lasting: ReadonlySet<string> = new Set(["AUDIO_LIMIT"]);

function mayPass({ status, reason }: ApiError): boolean {
  return status === 0 || status >= 500 || (status === 429 && !lasting.has(reason));
}

/** The same as the calls of the console fail, so that it is told in the same words. */
function apiErrorOf(cause: unknown): ApiError {
  if (cause instanceof ApiError) return cause;
  if (!(cause instanceof ConnectError)) return offlineError();
  const [info] = cause.findDetails(ErrorInfoSchema);
  const [retry] = cause.findDetails(RetryInfoSchema);
  // Nobody answered: the connection was lost, or the service went away.
  if (cause.code === Code.Unavailable && !info) return offlineError();
  return new ApiError(cause.rawMessage, {
    status: statuses[cause.code] ?? 503,
    reason: info?.reason ?? "UNKNOWN",
    metadata: info?.metadata ?? {},
    retryAfterMs: retry?.retryDelay && msOfDuration(retry.retryDelay),
  });
}

/** HTTP's of the codes that do not pass by themselves; all others are as good as 503. */
const statuses: Partial<Record<Code, number>> = {
  [Code.InvalidArgument]: 400,
  [Code.FailedPrecondition]: 400,
  [Code.PermissionDenied]: 403,
  [Code.NotFound]: 404,
  [Code.Unimplemented]: 404,
  [Code.ResourceExhausted]: 429,
  // A token is of one stream and a minute: another one is asked for, and that says whether the
  // session is over.
  [Code.Unauthenticated]: 503,
};
