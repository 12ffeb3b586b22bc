const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;

/** Delays before the second attempt, the third, ...; the last one before all later attempts. */
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
 * Jitter: a delay is longer or shorter by up to this share, so that messages that failed at the
 * same time are not sent again at the same time.
 */
const jitter = 0.2;

export interface FailedAttempt {
  /** Attempts since the message was created or redelivered, this one included. */
  readonly attempts: number;
  /** Until the message is given up. */
  readonly leftMs: number;
  /** What the receiver asks for (Retry-After); at most our own longest delay counts. */
  readonly retryAfterMs?: number | undefined;
  /** A random number from 0 up to 1. */
  readonly chance: number;
}

/**
 * The delay after a failed attempt; undefined when the message's day is over. The last attempt is
 * at its end.
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
