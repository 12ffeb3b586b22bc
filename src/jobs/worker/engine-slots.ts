/** A job with pieces to be recognized. Job ids sort by age. */
export interface SlotJob {
  readonly id: string;
  readonly accountId: string;
}

interface WaitingPiece {
  readonly job: SlotJob;
  /** The time since which the piece has waited, on the clock of performance.now(). */
  readonly sinceMs: number;
  readonly start: () => void;
}

/**
 * The engines of a worker, each of which recognizes one piece at a time. A free slot goes to the
 * account that holds the fewest; among equals, to the account with the least recent turn. Within
 * the account it goes to the oldest job, so that jobs end one after the other.
 */
export class EngineSlots {
  #free: number;
  readonly #waiting: WaitingPiece[] = [];
  /** The numbers of slots held, by job and by account. */
  readonly #ofJobs = new Map<string, number>();
  readonly #ofAccounts = new Map<string, number>();
  /** The time of the last turn of each account that holds a slot or waits for one. */
  readonly #turns = new Map<string, number>();
  #turn = 0;

  constructor(count: number) {
    this.#free = count;
  }

  /** The number of slots that no piece holds. */
  get free(): number {
    return this.#free;
  }

  /**
   * Returns the ids of the jobs that hold no slot and have waited for one for at least this long,
   * in the order in which they will get one.
   */
  waitingFor(msMin: number): string[] {
    const sinceMax = performance.now() - msMin;
    const waiting = this.#waiting.filter(
      ({ job, sinceMs }) => !this.#ofJobs.has(job.id) && sinceMs <= sinceMax,
    );
    return waiting.toSorted((a, b) => this.#compare(a.job, b.job)).map(({ job }) => job.id);
  }

  /**
   * Waits for a slot. Resolves to a function that releases the slot; rejects with the signal's
   * reason.
   */
  async take(job: SlotJob, signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    if (this.#free > 0) this.#begin(job);
    else await this.#wait(job, signal);
    let isHeld = true;
    return () => {
      if (isHeld) this.#release(job);
      isHeld = false;
    };
  }

  #begin({ id, accountId }: SlotJob): void {
    this.#free--;
    add(this.#ofJobs, id, 1);
    add(this.#ofAccounts, accountId, 1);
    this.#turns.set(accountId, ++this.#turn);
  }

  #release({ id, accountId }: SlotJob): void {
    this.#free++;
    add(this.#ofJobs, id, -1);
    add(this.#ofAccounts, accountId, -1);
    const [next] = this.#waiting.toSorted((a, b) => this.#compare(a.job, b.job));
    if (next) {
      this.#waiting.splice(this.#waiting.indexOf(next), 1);
      this.#begin(next.job);
      next.start();
    }
    this.#forget(accountId);
  }

  #compare(a: SlotJob, b: SlotJob): number {
    return (
      (this.#ofAccounts.get(a.accountId) ?? 0) - (this.#ofAccounts.get(b.accountId) ?? 0) ||
      (this.#turns.get(a.accountId) ?? 0) - (this.#turns.get(b.accountId) ?? 0) ||
      (a.id < b.id ? -1 : 1)
    );
  }

  /**
   * Removes an account that neither holds a slot nor waits for one. Next time it counts as new.
   */
  #forget(accountId: string): void {
    const isKnown = this.#waiting.some(({ job }) => job.accountId === accountId);
    if (!isKnown && !this.#ofAccounts.has(accountId)) this.#turns.delete(accountId);
  }

  async #wait(job: SlotJob, signal: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const piece = { job, sinceMs: performance.now(), start: resolve };
    const abort = (): void => {
      const at = this.#waiting.indexOf(piece);
      // Its turn may have come at the same moment.
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

/** Changes a count, and removes it when it reaches 0. */
function add(counts: Map<string, number>, key: string, change: number): void {
  const count = (counts.get(key) ?? 0) + change;
  if (count > 0) counts.set(key, count);
  else counts.delete(key);
}
