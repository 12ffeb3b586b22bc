/** How long one turn of the event loop may go on: live audio waits no longer for it. */
const turnMsMax = 8;

/**
 * Spreads what many calls do at the same moment over turns of the event loop: calls continue one
 * after the other, account by account in turn, and the event loop runs whenever they have taken 8
 * ms.
 */
export class FairTurns {
  /** Calls that wait, by account; the account whose turn is next stands first. */
  readonly #waiting = new Map<string, Set<() => void>>();
  #isRunning = false;
  /** In this turn of the event loop. */
  #spentMs = 0;

  /**
   * Resolves when it is this call's turn. What it does until it next waits for something counts as
   * its turn.
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
   * Counted until the event loop comes round: calls may also come one by one, as timers do that are
   * due together.
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
 * Resolves when the promises and ticks that the call has caused are done: the second tick is behind
 * those of its writes.
 */
async function ticks(): Promise<void> {
  for (let tick = 0; tick < 2; tick += 1) {
    await new Promise<void>((resolve) => process.nextTick(resolve));
  }
}
