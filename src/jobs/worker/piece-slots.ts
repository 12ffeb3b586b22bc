/** Where the pieces of one job wait until they may be recognized. */
export interface JobSlots {
  /** Whether it has had a slot. */
  readonly hasBegun: boolean;
  /** Resolves to the way to give the slot back; rejects with the signal's reason. */
  take(signal: AbortSignal): Promise<() => void>;
}

/** A job as the slots know it. */
interface SlotJob {
  readonly accountId: string;
  readonly jobId: string;
  hasBegun: boolean;
  held: number;
}

interface WaitingPiece {
  readonly job: SlotJob;
  /** On the clock of performance.now(). */
  readonly sinceMs: number;
  readonly start: () => void;
}

/**
 * Lets a number of pieces be recognized at a time. A free slot goes to the account that holds the
 * fewest; among those, to the one that has waited longest for a turn; within the account, to its
 * oldest job, so that jobs end one after the other.
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

  /** Slots that nobody holds. */
  get free(): number {
    return this.#free;
  }

  /** The slots as a job sees them. Ids of jobs sort by age. */
  of({ accountId, jobId }: { readonly accountId: string; readonly jobId: string }): JobSlots {
    const job: SlotJob = { accountId, jobId, hasBegun: false, held: 0 };
    return {
      get hasBegun() {
        return job.hasBegun;
      },
      take: async (signal) => await this.#take(job, signal),
    };
  }

  /**
   * Ids of the jobs that hold no slot and have waited for one for so long, in the order in which
   * they get theirs.
   */
  standing(msMin: number): string[] {
    const sinceMax = performance.now() - msMin;
    const standing = this.#waiting.filter(
      ({ job, sinceMs }) => job.held === 0 && sinceMs <= sinceMax,
    );
    return standing.toSorted((a, b) => this.#compare(a.job, b.job)).map(({ job }) => job.jobId);
  }

  async #take(job: SlotJob, signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    if (this.#free > 0) this.#begin(job);
    else await this.#wait(job, signal);
    let isHeld = true;
    return () => {
      if (isHeld) this.#giveBack(job);
      isHeld = false;
    };
  }

  #begin(job: SlotJob): void {
    const { accountId } = job;
    this.#free--;
    job.held++;
    job.hasBegun = true;
    this.#held.set(accountId, this.#heldBy(accountId) + 1);
    this.#turns.set(accountId, ++this.#turn);
  }

  #giveBack(job: SlotJob): void {
    const { accountId } = job;
    this.#free++;
    job.held--;
    const left = this.#heldBy(accountId) - 1;
    if (left > 0) this.#held.set(accountId, left);
    else this.#held.delete(accountId);
    const [next] = this.#waiting.toSorted((a, b) => this.#compare(a.job, b.job));
    if (next) {
      this.#waiting.splice(this.#waiting.indexOf(next), 1);
      this.#begin(next.job);
      next.start();
    }
    this.#forget(accountId);
  }

  #heldBy(accountId: string): number {
    return this.#held.get(accountId) ?? 0;
  }

  #compare(a: SlotJob, b: SlotJob): number {
    return (
      this.#heldBy(a.accountId) - this.#heldBy(b.accountId) ||
      (this.#turns.get(a.accountId) ?? 0) - (this.#turns.get(b.accountId) ?? 0) ||
      (a.jobId < b.jobId ? -1 : 1)
    );
  }

  /** An account that neither holds nor waits is new the next time. */
  #forget(accountId: string): void {
    const isKnown = this.#waiting.some(({ job }) => job.accountId === accountId);
    if (!isKnown && !this.#held.has(accountId)) this.#turns.delete(accountId);
  }

  async #wait(job: SlotJob, signal: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const piece = { job, sinceMs: performance.now(), start: resolve };
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
