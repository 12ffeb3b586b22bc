/**
 * Makes long messages wait for each other, so that the main thread reads one at a time, in fair
 * turns of the accounts. After each message, the thread does other work for as long as the message
 * took: long messages use at most half of its time, however many arrive.
 */
export class ReadingTurns {
  /** The waiting messages by account, in the order of the accounts' turns. */
  readonly #waiting = new Map<string, (() => void)[]>();
  #isBusy = false;

  /**
   * Resolves when it is the account's turn; the message must be read before the next event is
   * processed.
   */
  async take(accountId: string): Promise<void> {
    if (!this.#isBusy) {
      this.#begin();
      return;
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    const others = this.#waiting.get(accountId);
    if (others) others.push(resolve);
    else this.#waiting.set(accountId, [resolve]);
    await promise;
  }

  #begin(): void {
    this.#isBusy = true;
    const begunAt = performance.now();
    // The message of the turn is read before this runs.
    setImmediate(() => {
      const tookMs = performance.now() - begunAt;
      if (tookMs < 1) this.#next();
      else setTimeout(() => this.#next(), tookMs);
    });
  }

  #next(): void {
    this.#isBusy = false;
    for (const [accountId, waiting] of this.#waiting) {
      const start = waiting.shift();
      // An account that has more goes behind all others.
      this.#waiting.delete(accountId);
      if (waiting.length > 0) this.#waiting.set(accountId, waiting);
      if (start === undefined) continue;
      this.#begin();
      start();
      return;
    }
  }
}
