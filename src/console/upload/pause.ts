/**
 * A wait that ends after a given time, when the network is available again, or when the user
 * requests it.
 */
export class Pause {
  #end: (() => void) | undefined;

  /** Waits for `ms` (Infinity means until end() is called). Rejects with the signal's reason. */
  async wait(ms: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const stop = (): void => reject(signal.reason);
    const end = (): void => resolve();
    const timer = Number.isFinite(ms) ? setTimeout(end, ms) : undefined;
    this.#end = end;
    addEventListener("online", end);
    signal.addEventListener("abort", stop);
    try {
      await promise;
    } finally {
      this.#end = undefined;
      clearTimeout(timer);
      removeEventListener("online", end);
      signal.removeEventListener("abort", stop);
    }
  }

  /** Ends the wait now. */
  end(): void {
    this.#end?.();
  }
}
