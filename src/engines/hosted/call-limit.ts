import type { RecognitionMode } from "../protocol/engine.ts";

const modesByRank: readonly RecognitionMode[] = ["live", "short", "job"];

interface Waiter {
  readonly mode: RecognitionMode;
  readonly wake: () => void;
}

/**
 * Limits the number of concurrent calls to a server: live before short before job. The limit may
 * change.
 */
export class CallLimit {
  readonly #callsMax: () => number;
  #calls = 0;
  #waiting: readonly Waiter[] = [];

  constructor(callsMax: () => number) {
    this.#callsMax = callsMax;
  }

  /** Waits until the server has room. Resolves to a function that ends the call. */
  async take(mode: RecognitionMode, signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    if (this.#calls < this.#callsMax()) this.#calls += 1;
    else await this.#wait(mode, signal);
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      this.#calls -= 1;
      this.#wakeNext();
    };
  }

  async #wait(mode: RecognitionMode, signal: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiter: Waiter = { mode, wake: resolve };
    const abort = () => {
      this.#waiting = this.#waiting.filter((each) => each !== waiter);
      reject(signal.reason);
    };
    this.#waiting = [...this.#waiting, waiter];
    signal.addEventListener("abort", abort);
    await promise.finally(() => signal.removeEventListener("abort", abort));
  }

  #wakeNext(): void {
    if (this.#calls >= this.#callsMax()) return;
    const next = modesByRank
      .map((mode) => this.#waiting.find((each) => each.mode === mode))
      .find((each) => each !== undefined);
    if (!next) return;
    this.#waiting = this.#waiting.filter((each) => each !== next);
    this.#calls += 1;
    next.wake();
  }
}
