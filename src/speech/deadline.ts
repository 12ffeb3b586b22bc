import { ServiceError } from "../std/service-error.ts";

/**
 * The clocks of one stream: how long it may last in all, and how long each wait may be. One timer
 * for all waits, which is left alone while they end in time: to set and clear one for each message
 * would cost as much as reading it.
 */
export class Deadline implements Disposable {
  readonly #expired: () => ServiceError;
  readonly #streamEndsAt: number;
  #waitEndsAt = Infinity;
  #waitMsMax = 0;
  #problem: (seconds: number) => string = () => "";
  /** Of the latest wait, which may be over: then it does nothing. */
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
   * The same without a promise: a wait begins now. Calls `reject` when it takes too long, and also
   * when the wait is over but no other one has begun: the caller ignores that. Returns false where
   * it has called `reject` at once, as the stream has lasted too long.
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
    this.#timer = setTimeout(() => this.#look(), Math.ceil(atMs - performance.now()));
  }

  /** Waits have begun and ended since the timer was set: mostly it is set anew. */
  #look(): void {
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
