import { ServiceError } from "../std/service-error.ts";

const reason = "STORE_LACKS_MEDIA";

/**
 * Returns the error for media that the database has but the store of this node lacks. Another node
 * may have the media.
 */
export function lackingMedia(cause: unknown): ServiceError {
  return new ServiceError("unavailable", "the media store of this node lacks the recording", {
    reason,
    cause,
  });
}

export function isLackingMedia(error: unknown): boolean {
  return error instanceof ServiceError && error.reason === reason;
}

/** Returns the error for callers after the last attempt. */
export function lostMedia(attempts: number): ServiceError {
  return new ServiceError(
    "not_found",
    `the recording was not in the media store in any of the ${attempts} attempts`,
    { reason: "MEDIA_LOST" },
  );
}

/**
 * How long a worker that lacks the media leaves the account's jobs to other workers, in addition to
 * the delay before the next attempt.
 */
const avoidedMs = 10_000;

/** Accounts whose media this worker lacks. Other workers run the next jobs of these accounts. */
export class AvoidedAccounts {
  readonly #until = new Map<string, number>();

  avoid(accountId: string, afterMs: number): void {
    this.#until.set(accountId, performance.now() + afterMs + avoidedMs);
  }

  ids(): readonly string[] {
    const now = performance.now();
    for (const [accountId, until] of this.#until) if (until <= now) this.#until.delete(accountId);
    return [...this.#until.keys()];
  }
}
