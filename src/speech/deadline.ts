import { ServiceError } from "../std/service-error.ts";

/**
 * The time limits of one stream: its whole duration, and each wait. All waits share one timer,
 * which is not reset while they end in time: setting and clearing a timer for each message would
 * cost as much as reading the message.
 */
export class Deadline implements Disposable {
  readonly #expired: () => ServiceError;
  readonly #streamEndsAt: number;
  #waitEndsAt = Infinity;
  #waitMsMax = 0;
  #problem: (seconds: number) => string = () => "";
  /** Rejects the latest wait; it has no effect after that wait. */
  #reject: ((error: ServiceError) => void) | undefined;
  #timer: NodeJS.Timeout | undefined;
  #timerAt = Infinity;
  #expiry: ServiceError | undefined;

  /** `expired` makes the error of a stream that lasts longer than `msMax`. */
  constructor(msMax: number, expired: () => ServiceError) {
    this.#expired = expired;
    this.#streamEndsAt = performance.now() + msMax;
    this.#arm(this.#streamEndsAt);
  }

  /**
   * Waits for one thing at a time; throws out_of_range with `problem` when it takes longer than
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
   * Begins a wait, like within(), but without a promise. Calls `reject` if the wait takes too long,
   * even if it has ended and no other wait has begun; the caller ignores that call. Returns false
   * if it has called `reject` immediately, because the stream has lasted too long.
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

  /** Handles the timer. It usually fires for a wait that has ended, and is set again. */
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
