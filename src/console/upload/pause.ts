/** A wait that ends with its time, when the network is back, or when somebody wants to go on. */
export class Pause {
  #end: (() => void) | undefined;

  /** Waits for `ms` (Infinity: until it is ended); rejects with the signal's reason. */
  async wait(ms: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const stop = (): void => reject(signal.reason);
    const goOn = (): void => resolve();
    const timer = Number.isFinite(ms) ? setTimeout(goOn, ms) : undefined;
    this.#end = goOn;
    addEventListener("online", goOn);
    signal.addEventListener("abort", stop);
    try {
      await promise;
    } finally {
      this.#end = undefined;
      clearTimeout(timer);
      removeEventListener("online", goOn);
      signal.removeEventListener("abort", stop);
    }
  }

  /** Goes on now. */
  end(): void {
    this.#end?.();
  }
}
