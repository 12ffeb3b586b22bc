import { ServiceError } from "../std/service-error.ts";

/** The clocks of one stream: how long it may last in all, and how long each wait may be. */
export class Deadline implements Disposable {
  readonly #timer: NodeJS.Timeout;
  #expiry: ServiceError | undefined;
  /** Rejects the wait that is going on. Not one promise for all waits: it would remember each of them. */
  #reject: ((error: ServiceError) => void) | undefined;

  /** `expired` makes the error of a stream that lasts longer than `msMax`. */
  constructor(msMax: number, expired: () => ServiceError) {
    this.#timer = setTimeout(() => {
      this.#expiry = expired();
      this.#reject?.(this.#expiry);
    }, msMax);
  }

  /** Waits for one thing at a time; throws out_of_range with `problem` when it takes longer than `msMax`. */
  async within<T>(
    msMax: number,
    wait: () => Promise<T>,
    problem: (seconds: number) => string,
  ): Promise<T> {
    if (this.#expiry) throw this.#expiry;
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    this.#reject = reject;
    const idle = setTimeout(() => {
      reject(new ServiceError("out_of_range", problem(msMax / 1000)));
    }, msMax);
    wait().then(resolve, reject);
    try {
      return await promise;
    } finally {
      clearTimeout(idle);
      this.#reject = undefined;
    }
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
  }
}
