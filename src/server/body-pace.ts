import { ServiceError } from "../std/service-error.ts";

export interface BodyLimits {
  /** A body that stalls for this long is given up. */
  readonly idleMsMax: number;
  /**
   * A body may take one more second for each of this many bytes: a trickle must not keep its call
   * open for ever.
   */
  readonly bytesPerSecondMin: number;
}

export const bodyLimits: BodyLimits = { idleMsMax: 30_000, bytesPerSecondMin: 1 << 10 };

/**
 * A body that was both too slow and stalled is reported as stalled if it stalled for this share of
 * idleMsMax.
 */
const stillShare = 0.75;

/**
 * How long a body may still take, given the bytes and times of its chunks. Only time in which the
 * body was being read counts.
 */
export class BodyPace {
  readonly #limits: BodyLimits;
  readonly #now: () => number;
  #waitedMs = 0;
  #waitsSince: number;
  #bytes = 0;

  /** The body is being read from now on. */
  constructor(limits: BodyLimits, now: () => number = () => performance.now()) {
    this.#limits = limits;
    this.#now = now;
    this.#waitsSince = now();
  }

  /** Adds a chunk. Unless wait() is called later, the next chunk is being read from now on. */
  add(bytes: number): void {
    const now = this.#now();
    this.#waitedMs += now - this.#waitsSince;
    this.#waitsSince = now;
    this.#bytes += bytes;
  }

  /** The next chunk is being read from now on. */
  wait(): void {
    this.#waitsSince = this.#now();
  }

  /** Time until the next check; 0: the body is given up, with failure(). */
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
