const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;

/** Waits before the second attempt, the third, ...; the last one before all later attempts. */
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
 * A wait is longer or shorter by up to this share, so that what failed together does not come back
 * together.
 */
const jitter = 0.2;

export interface FailedAttempt {
  /** Attempts since the message was made or asked for again, this one included. */
  readonly attempts: number;
  /** Until the message is given up. */
  readonly leftMs: number;
  /** What the receiver asks for (Retry-After); it counts up to the longest wait of our own. */
  readonly retryAfterMs?: number | undefined;
  /** 0 up to 1, by chance. */
  readonly chance: number;
}

/**
 * How long to wait after a failed attempt; undefined when the message's day is over. The last
 * attempt is at its end.
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
