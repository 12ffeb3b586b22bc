import { ServiceError } from "../std/service-error.ts";

const reason = "STORE_LACKS_MEDIA";

/** The store of this node does not have media that the database has: that of another node may. */
export function lackingMedia(cause: unknown): ServiceError {
  return new ServiceError("unavailable", "the media store of this node lacks the recording", {
    reason,
    cause,
  });
}

export function isLackingMedia(error: unknown): boolean {
  return error instanceof ServiceError && error.reason === reason;
}

/** The error that callers get when every node has been tried. */
export function lostMedia(tries: number): ServiceError {
  return new ServiceError(
    "not_found",
    `the recording was not in the media store of any of the ${tries} tries`,
    { reason: "MEDIA_LOST" },
  );
}

/**
 * How long a worker that lacks media leaves the account's jobs to others, beyond the wait before
 * the next try.
 */
const leftMs = 10_000;

/** Accounts whose media this worker lacked, so that another worker has their jobs next. */
export class LeftAccounts {
  readonly #until = new Map<string, number>();

  leave(accountId: string, afterMs: number): void {
    this.#until.set(accountId, performance.now() + afterMs + leftMs);
  }

  now(): readonly string[] {
    const now = performance.now();
    for (const [accountId, until] of this.#until) if (until <= now) this.#until.delete(accountId);
    return [...this.#until.keys()];
  }
}
