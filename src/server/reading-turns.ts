/**
 * Queues long messages, so that the main thread reads one at a time, with fair turns for the
 * accounts. After each message, the thread does other work for as long as reading the message took.
 * Long messages therefore use at most half of the thread's time, however many arrive.
 */
export class ReadingTurns {
  /** The waiting messages by account, in the order in which the accounts have their turns. */
  readonly #waiting = new Map<string, (() => void)[]>();
  #isBusy = false;

  /**
   * Resolves when it is the account's turn. The message must be read before the next event is
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
    // The message whose turn it is has been read by the time this callback runs.
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
      // An account with more waiting messages moves behind all other accounts.
      this.#waiting.delete(accountId);
      if (waiting.length > 0) this.#waiting.set(accountId, waiting);
      if (start === undefined) continue;
      this.#begin();
      start();
      return;
    }
  }
}
