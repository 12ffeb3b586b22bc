/**
 * Wakes callers that wait for an engine process when a process becomes ready or the pool closes.
 */
export class ReadySignal {
  readonly #waiters = new Set<() => void>();
  #isClosed = false;

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Wakes all waiting callers, since the condition that they wait for may have changed. */
  notify(): void {
    for (const wake of this.#waiters) wake();
  }

  close(): void {
    this.#isClosed = true;
    this.notify();
  }

  /** Waits until the next notify(), for at most `ms`, or until the signal aborts. */
  async wait(ms: number, signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const wake = () => resolve();
    const timer = setTimeout(wake, ms);
    this.#waiters.add(wake);
    signal.addEventListener("abort", wake);
    await promise;
    clearTimeout(timer);
    this.#waiters.delete(wake);
    signal.removeEventListener("abort", wake);
  }
}
