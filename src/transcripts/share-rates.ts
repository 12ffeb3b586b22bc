import { LRUCache } from "lru-cache";
import { RequestWindow } from "../auth/request-window.ts";
import { ServiceError } from "../std/service-error.ts";

/** The number of shares whose readings are counted at a time. Each takes about a hundred bytes. */
const sharesMax = 10_000;

/** Counts how often each share is read, and refuses more than `perMinute` readings in 60 s. */
export class ShareRates {
  readonly #perMinute: number;
  readonly #windows = new LRUCache<string, RequestWindow>({ max: sharesMax });

  constructor(perMinute: number) {
    this.#perMinute = perMinute;
  }

  /**
   * Counts a reading at `now`, in milliseconds since 1970. Throws TOO_MANY_REQUESTS above the
   * limit; refused readings do not count.
   */
  count(shareId: string, now: number): void {
    const window = this.#windows.get(shareId) ?? new RequestWindow();
    this.#windows.set(shareId, window);
    const waitMs = window.waitMs(this.#perMinute, now);
    if (waitMs > 0) throw tooManyReadings(this.#perMinute, waitMs);
    window.count(now);
  }
}

function tooManyReadings(perMinute: number, retryAfterMs: number): ServiceError {
  const problem = `this link was opened ${perMinute} times in the last 60 s, which is its limit`;
  return new ServiceError("resource_exhausted", problem, {
    reason: "TOO_MANY_REQUESTS",
    metadata: { limit: "requestsPerMinute", value: `${perMinute}`, of: "share" },
    retryAfterMs,
  });
}
