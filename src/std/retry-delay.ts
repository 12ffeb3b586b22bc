const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;

/**
 * The delays before the second attempt, the third, ...; the last delay applies to all later
 * attempts.
 */
const waitsMs = [
  5 * second,
  30 * second,
  2 * minute,
  10 * minute,
  30 * minute,
  hour,
  2 * hour,
] as const;
const longestMs = 2 * hour;
/**
 * The jitter: a delay is longer or shorter by up to this share, so that messages that failed at the
 * same time are not sent again at the same time.
 */
const jitter = 0.2;

export interface FailedAttempt {
  /** The number of attempts since the message was created or redelivered, including this one. */
  readonly attempts: number;
  /** The time until the message is given up. */
  readonly leftMs: number;
  /**
   * The delay that the receiver requests (Retry-After), which counts only up to the longest delay
   * of this service.
   */
  readonly retryAfterMs?: number | undefined;
  /** A random number that is at least 0 and less than 1. */
  readonly chance: number;
}

/**
 * Returns the delay after a failed attempt, or undefined if the message's day is over. The last
 * attempt is at the end of the day.
 */
export function retryDelayMs({
  attempts,
  leftMs,
  retryAfterMs = 0,
  chance,
}: FailedAttempt): number | undefined {
  if (leftMs <= 0) return undefined;
  const waitMs = waitsMs[attempts - 1] ?? longestMs;
  const ownMs = Math.round(waitMs * (1 - jitter + 2 * jitter * chance));
  return Math.min(Math.max(ownMs, Math.min(retryAfterMs, longestMs)), leftMs);
}
