import { ServiceError } from "../std/service-error.ts";

const reason = "STORE_LACKS_MEDIA";

/**
 * The error if the store of this node lacks media that the database has; another node may have it.
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

/** The error for callers after the last attempt. */
export function lostMedia(attempts: number): ServiceError {
  return new ServiceError(
    "not_found",
    `the recording was not in the media store in any of the ${attempts} attempts`,
    { reason: "MEDIA_LOST" },
  );
}

/**
 * How long a worker without the media leaves the account's jobs to others, in addition to the wait
 * before the next attempt.
 */
const avoidedMs = 10_000;

/** Accounts whose media this worker lacked: other workers run their jobs next. */
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
