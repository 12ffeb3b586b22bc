import { ServiceError } from "../std/service-error.ts";

export interface BodyLimits {
  /** The maximum time for which a body may stall before it is given up. */
  readonly idleMsMax: number;
  /**
   * The minimum rate of a body: it may take one more second for each of this many bytes. A trickle
   * must not keep its call open forever.
   */
  readonly bytesPerSecondMin: number;
}

export const bodyLimits: BodyLimits = { idleMsMax: 30_000, bytesPerSecondMin: 1 << 10 };

/**
 * The share of idleMsMax for which a body must have stalled to be reported as stalled when it was
 * also too slow.
 */
const stillShare = 0.75;

/**
 * Determines how much longer a body may take, given the sizes and times of its chunks. Only time in
 * which the body was being read counts.
 */
export class BodyPace {
  readonly #limits: BodyLimits;
  readonly #now: () => number;
  #waitedMs = 0;
  #waitsSince: number;
  #bytes = 0;

  /** The time spent reading the body is counted from now on. */
  constructor(limits: BodyLimits, now: () => number = () => performance.now()) {
    this.#limits = limits;
    this.#now = now;
    this.#waitsSince = now();
  }

  /**
   * Adds a chunk. Unless wait() is called later, the time for the next chunk is counted from now
   * on.
   */
  add(bytes: number): void {
    const now = this.#now();
    this.#waitedMs += now - this.#waitsSince;
    this.#waitsSince = now;
    this.#bytes += bytes;
  }

  /** The time for the next chunk is counted from now on. */
  wait(): void {
    this.#waitsSince = this.#now();
  }

  /** Returns the time until the next check. 0 means that the body is given up, with failure(). */
  leftMs(): number {
    const waitsMs = this.#now() - this.#waitsSince;
    const idleLeft = this.#limits.idleMsMax - waitsMs;
    return Math.max(0, Math.ceil(Math.min(idleLeft, this.#allowedMs() - this.#waitedMs - waitsMs)));
  }

  failure(): ServiceError {
    const { idleMsMax, bytesPerSecondMin } = this.#limits;
    const stillMs = Math.min(this.#now() - this.#waitsSince, idleMsMax);
    const problem =
      stillMs >= stillShare * idleMsMax
        ? `stalled for ${Math.ceil(stillMs / 1000)} s`
        : `arrived more slowly than ${bytesPerSecondMin} bytes a second`;
    return new ServiceError("deadline_exceeded", `the body ${problem}`);
  }

  #allowedMs(): number {
    const { idleMsMax, bytesPerSecondMin } = this.#limits;
    return idleMsMax + (this.#bytes / bytesPerSecondMin) * 1000;
  }
}
