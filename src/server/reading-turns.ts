/**
 * Lets long messages be read one at a time, each of an account in its turn, on the thread that also
 * carries live audio. After each the thread has as long for all else as the message took, so that
 * half of it is never theirs, however many come.
 */
export class ReadingTurns {
  /** By account, in the order in which their turns come. */
  readonly #waiting = new Map<string, (() => void)[]>();
  #isBusy = false;

  /**
   * Resolves when it is the account's turn: what is read must be read before the next event is
   * looked at.
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
    // What was let in runs before this does.
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
      // Behind all others, if it has more.
      this.#waiting.delete(accountId);
      if (waiting.length > 0) this.#waiting.set(accountId, waiting);
      if (start === undefined) continue;
      this.#begin();
      start();
      return;
    }
  }
}
