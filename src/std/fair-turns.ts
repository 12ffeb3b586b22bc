/**
 * The maximum time for which calls may occupy one turn of the event loop, because live audio waits
 * until the turn ends.
 */
const turnMsMax = 8;

/**
 * Spreads the work of many concurrent calls over turns of the event loop. Calls continue one after
 * the other, accounts alternate, and the event loop runs whenever the calls have taken 8 ms.
 */
export class FairTurns {
  /** The waiting calls by account. The account whose turn is next comes first. */
  readonly #waiting = new Map<string, Set<() => void>>();
  #isRunning = false;
  /** The time taken in this turn of the event loop. */
  #spentMs = 0;

  /**
   * Resolves when it is this call's turn. The turn includes the call's work until its next wait.
   */
  async next(accountId: string): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const own = this.#waiting.get(accountId);
    if (own) own.add(resolve);
    else this.#waiting.set(accountId, new Set([resolve]));
    if (!this.#isRunning) void this.#run();
    await promise;
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    while (this.#waiting.size > 0) {
      if (this.#spentMs >= turnMsMax) await new Promise(setImmediate);
      const startMs = performance.now();
      this.#takeNext()?.();
      await ticks();
      this.#spend(performance.now() - startMs);
    }
    this.#isRunning = false;
  }

  /**
   * Counts time until the event loop runs again. Calls can also arrive one by one, for example from
   * timers that are due at the same time.
   */
  #spend(ms: number): void {
    if (this.#spentMs === 0) setImmediate(() => (this.#spentMs = 0));
    this.#spentMs += ms;
  }

  #takeNext(): (() => void) | undefined {
    for (const [accountId, own] of this.#waiting) {
      this.#waiting.delete(accountId);
      for (const start of own) {
        own.delete(start);
        if (own.size > 0) this.#waiting.set(accountId, own);
        return start;
      }
    }
    return undefined;
  }
}

/**
 * Resolves when the promises and ticks caused by the call are done. The second tick comes after the
 * ticks of the call's writes.
 */
async function ticks(): Promise<void> {
  for (let tick = 0; tick < 2; tick += 1) {
    await new Promise<void>((resolve) => process.nextTick(resolve));
  }
}
