import { ServiceError } from "../std/service-error.ts";

/**
 * The time limits of one stream, for its whole duration and for each wait. All waits share one
 * timer, which is not reset when a wait ends in time. Setting and clearing a timer for each message
 * would cost as much as reading the message.
 */
export class Deadline implements Disposable {
  readonly #expired: () => ServiceError;
  readonly #streamEndsAt: number;
  #waitEndsAt = Infinity;
  #waitMsMax = 0;
  #problem: (seconds: number) => string = () => "";
  /** Rejects the latest wait. It has no effect after that wait has ended. */
  #reject: ((error: ServiceError) => void) | undefined;
  #timer: NodeJS.Timeout | undefined;
  #timerAt = Infinity;
  #expiry: ServiceError | undefined;

  /** `expired` creates the error for a stream that lasts longer than `msMax`. */
  constructor(msMax: number, expired: () => ServiceError) {
    this.#expired = expired;
    this.#streamEndsAt = performance.now() + msMax;
    this.#arm(this.#streamEndsAt);
  }

  /**
   * Runs one wait at a time. Throws out_of_range with `problem` if the wait takes longer than
   * `msMax`.
   */
  within<T>(
    msMax: number,
    wait: () => Promise<T>,
    problem: (seconds: number) => string,
  ): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.begins(msMax, reject, problem)) wait().then(resolve, reject);
    });
  }

  /**
   * Begins a wait, like within(), but without a promise. Calls `reject` when the time limit passes,
   * even if the wait has ended and no other wait has begun. The caller ignores such a late call.
   * Returns false if `reject` was called immediately because the stream has lasted too long.
   */
  begins(
    msMax: number,
    reject: (error: ServiceError) => void,
    problem: (seconds: number) => string,
  ): boolean {
    if (this.#expiry) {
      reject(this.#expiry);
      return false;
    }
    this.#reject = reject;
    this.#problem = problem;
    this.#waitMsMax = msMax;
    this.#waitEndsAt = performance.now() + msMax;
    if (this.#waitEndsAt < this.#timerAt) this.#arm(this.#waitEndsAt);
    return true;
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
  }

  #arm(atMs: number): void {
    clearTimeout(this.#timer);
    this.#timerAt = atMs;
    this.#timer = setTimeout(() => this.#check(), Math.ceil(atMs - performance.now()));
  }

  /**
   * Handles the timer. The timer usually fires for a wait that has already ended, and is then set
   * again.
   */
  #check(): void {
    const now = performance.now();
    if (now >= this.#streamEndsAt) {
      this.#expiry = this.#expired();
      this.#reject?.(this.#expiry);
      return;
    }
    if (now >= this.#waitEndsAt) {
      this.#waitEndsAt = Infinity;
      const problem = this.#problem(this.#waitMsMax / 1000);
      this.#reject?.(new ServiceError("out_of_range", problem));
    }
    this.#arm(Math.min(this.#waitEndsAt, this.#streamEndsAt));
  }
}
