/** Wakes the worker of this process when jobs are submitted on this node. Other nodes poll. */
export class Arrivals {
  readonly #waiting = new Set<() => void>();
  /** Whether jobs have arrived since the last wait. */
  #hasSome = false;
  readonly #onArrival: () => void;

  /** `onArrival` is called for each arrival: the worker may be in another process of the node. */
  constructor(onArrival: () => void = () => {}) {
    this.#onArrival = onArrival;
  }

  announce(): void {
    this.#hasSome = true;
    this.#onArrival();
    for (const wake of this.#waiting) wake();
  }

  /** Resolves when jobs have arrived or after msMax; rejects with the signal's reason. */
  async next(msMax: number, signal: AbortSignal): Promise<void> {
    if (!this.#hasSome) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const wake = (): void => resolve();
      const timer = setTimeout(wake, msMax);
      signal.addEventListener("abort", wake, { once: true });
      this.#waiting.add(wake);
      await promise;
      this.#waiting.delete(wake);
      signal.removeEventListener("abort", wake);
      clearTimeout(timer);
    }
    this.#hasSome = false;
    signal.throwIfAborted();
  }
}
