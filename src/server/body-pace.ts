import { ServiceError } from "../std/service-error.ts";

export interface BodyLimits {
  /** A body that stands still this long is given up. */
  readonly idleMsMax: number;
  /**
   * A body may take this much longer for each second that it lasts: a trickle does not hold its
   * call open for ever.
   */
  readonly bytesPerSecondMin: number;
}

export const bodyLimits: BodyLimits = { idleMsMax: 30_000, bytesPerSecondMin: 1 << 10 };

/**
 * Of what came too slowly and then not at all, the latter is told where it is so much of idleMsMax.
 */
const stillShare = 0.75;

/**
 * How long a body may still take, by what has come of it and when. Only the time counts in which it
 * was waited for.
 */
export class BodyPace {
  readonly #limits: BodyLimits;
  readonly #now: () => number;
  #waitedMs = 0;
  #waitsSince: number;
  #bytes = 0;

  /** Waits from now on. */
  constructor(limits: BodyLimits, now: () => number = () => performance.now()) {
    this.#limits = limits;
    this.#now = now;
    this.#waitsSince = now();
  }

  /** A part of the body has come. What follows is waited for at once, unless wait() tells when. */
  add(bytes: number): void {
    const now = this.#now();
    this.#waitedMs += now - this.#waitsSince;
    this.#waitsSince = now;
    this.#bytes += bytes;
  }

  /** The next part is waited for from now on. */
  wait(): void {
    this.#waitsSince = this.#now();
  }

  /** When to look again; 0: the body is given up, with failure(). */
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
        ? `stood still for ${Math.ceil(stillMs / 1000)} s`
        : `came more slowly than ${bytesPerSecondMin} bytes a second`;
    return new ServiceError("deadline_exceeded", `the body ${problem}`);
  }

  #allowedMs(): number {
    const { idleMsMax, bytesPerSecondMin } = this.#limits;
    return idleMsMax + (this.#bytes / bytesPerSecondMin) * 1000;
  }
}
