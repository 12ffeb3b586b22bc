/** Where a piece of one job waits until it may be recognised. */
export interface JobSlots {
  /** Resolves to the way to give the slot back; rejects with the signal's reason. */
  take(signal: AbortSignal): Promise<() => void>;
}

interface WaitingPiece {
  readonly accountId: string;
  readonly jobId: string;
  readonly start: () => void;
}

/**
 * Lets a number of pieces be recognised at a time. A free slot goes to the account that holds the fewest; among those, to the one
 * that has waited longest for a turn; within the account, to its oldest job, so that jobs end one after the other.
 */
export class PieceSlots {
  #free: number;
  readonly #waiting: WaitingPiece[] = [];
  readonly #held = new Map<string, number>();
  /** When each account that holds or waits had its last turn. */
  readonly #turns = new Map<string, number>();
  #turn = 0;

  constructor(count: number) {
    this.#free = count;
  }

  /** The slots as a job sees them. Ids of jobs sort by age. */
  of({ accountId, jobId }: { readonly accountId: string; readonly jobId: string }): JobSlots {
    return { take: async (signal) => await this.#take(accountId, jobId, signal) };
  }

  async #take(accountId: string, jobId: string, signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    if (this.#free > 0) this.#begin(accountId);
    else await this.#wait(accountId, jobId, signal);
    let isHeld = true;
    return () => {
      if (isHeld) this.#giveBack(accountId);
      isHeld = false;
    };
  }

  #begin(accountId: string): void {
    this.#free--;
    this.#held.set(accountId, this.#heldBy(accountId) + 1);
    this.#turns.set(accountId, ++this.#turn);
  }

  #giveBack(accountId: string): void {
    this.#free++;
    const left = this.#heldBy(accountId) - 1;
    if (left > 0) this.#held.set(accountId, left);
    else this.#held.delete(accountId);
    const [next] = this.#waiting.toSorted((a, b) => this.#compare(a, b));
    if (next) {
      this.#waiting.splice(this.#waiting.indexOf(next), 1);
      this.#begin(next.accountId);
      next.start();
    }
    this.#forget(accountId);
  }

  #heldBy(accountId: string): number {
    return this.#held.get(accountId) ?? 0;
  }

  #compare(a: WaitingPiece, b: WaitingPiece): number {
    return (
      this.#heldBy(a.accountId) - this.#heldBy(b.accountId) ||
      (this.#turns.get(a.accountId) ?? 0) - (this.#turns.get(b.accountId) ?? 0) ||
      (a.jobId < b.jobId ? -1 : 1)
    );
  }

  /** An account that neither holds nor waits is new the next time. */
  #forget(accountId: string): void {
    const isKnown = this.#waiting.some((each) => each.accountId === accountId);
    if (!isKnown && !this.#held.has(accountId)) this.#turns.delete(accountId);
  }

  async #wait(accountId: string, jobId: string, signal: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const piece = { accountId, jobId, start: resolve };
    const abort = (): void => {
      const at = this.#waiting.indexOf(piece);
      // Its turn may have come in the same moment.
      if (at >= 0) this.#waiting.splice(at, 1);
      reject(signal.reason);
    };
    this.#waiting.push(piece);
    signal.addEventListener("abort", abort, { once: true });
    try {
      await promise;
    } finally {
      signal.removeEventListener("abort", abort);
    }
  }
}
