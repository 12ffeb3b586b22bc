import { ServiceError } from "../std/service-error.ts";

/**
 * The limits of an account, by their names in AccountLimits (hlust.accounts.v1). 0 means unlimited.
 */
export const accountLimitNames = [
  "requestsPerMinute",
  "concurrentStreams",
  "queuedJobs",
  "audioSecondsPerDay",
  "storedBytes",
] as const;
export type AccountLimits = Readonly<Record<(typeof accountLimitNames)[number], number>>;

/**
 * The limits of one key within its account, by their names in KeyLimits. 0 means that the limit of
 * the account applies.
 */
export const keyLimitNames = [
  "requestsPerMinute",
  "concurrentStreams",
  "queuedJobs",
  "audioSecondsPerDay",
] as const;
export type KeyLimits = Readonly<Record<(typeof keyLimitNames)[number], number>>;

export const noLimits: AccountLimits = {
  requestsPerMinute: 0,
  concurrentStreams: 0,
  queuedJobs: 0,
  audioSecondsPerDay: 0,
  storedBytes: 0,
};

/** Returns the limits in a column; missing limits are taken from `otherwise`. */
export function limitsFrom(
  column: Readonly<Record<string, number>>,
  otherwise: AccountLimits,
): AccountLimits {
  const limits = { ...otherwise };
  for (const name of accountLimitNames) limits[name] = column[name] ?? otherwise[name];
  return limits;
}

/** Whether a limit is the account's or the key's. */
export type LimitOf = "account" | "key";

/** The retry delay for limits on streams and jobs, which can end at any time. */
const streamsRetryMs = 5_000;
const jobsRetryMs = 10_000;

/**
 * Returns the error for too many calls. `waitMs` is the time until one more call is within the
 * limit.
 */
export function tooManyRequests(of: LimitOf, max: number, waitMs: number): ServiceError {
  const what = `has made ${max} calls in the last 60 s, which is its limit`;
  return reached("TOO_MANY_REQUESTS", what, { of, limit: "requestsPerMinute", max }, waitMs);
}

export function tooManyStreams(of: LimitOf, max: number): ServiceError {
  const what = `has ${max} live streams open, which is its limit`;
  const limit = { of, limit: "concurrentStreams", max } as const;
  return reached("TOO_MANY_STREAMS", what, limit, streamsRetryMs);
}

export function tooManyJobs(of: LimitOf, max: number): ServiceError {
  const what = `has ${max} unfinished jobs, which is its limit: submit the job again when some have finished`;
  return reached("TOO_MANY_JOBS", what, { of, limit: "queuedJobs", max }, jobsRetryMs);
}

/** Returns the error for too much audio. `waitMs` is the time until the next day (UTC) begins. */
export function audioUsedUp(of: LimitOf, max: number, waitMs: number): ServiceError {
  const what = `has used its limit of ${max} s of audio per day (UTC)`;
  return reached("AUDIO_LIMIT", what, { of, limit: "audioSecondsPerDay", max }, waitMs);
}

function reached(
  reason: string,
  what: string,
  limit: { readonly of: LimitOf; readonly limit: keyof KeyLimits; readonly max: number },
  retryAfterMs: number,
): ServiceError {
  return new ServiceError("resource_exhausted", `the ${limit.of} ${what}`, {
    reason,
    metadata: { limit: limit.limit, value: `${limit.max}`, of: limit.of },
    retryAfterMs,
  });
}
