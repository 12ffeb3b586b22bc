import { ServiceError } from "./service-error.ts";

/** The number of tasks that can run concurrently, and the number that can wait for their turn. */
export interface SemaphoreLimits {
  readonly running: number;
  /** The maximum number of running tasks per account. */
  readonly runningOfOne: number;
  readonly waitingOfOne: number;
  readonly waitMsMax: number;
  /** The ErrorInfo.reason of resource_exhausted. */
  readonly busyReason: string;
}

/**
 * Limits the tasks of one kind that run on a node concurrently. The next turn goes to the waiting
 * account whose last turn was longest ago, except accounts with the maximum number of running
 * tasks. No account therefore waits for all tasks of another account.
 */
export class FairSemaphore {
  readonly #limits: SemaphoreLimits;
  readonly #running = new Map<string, number>();
  readonly #waiting: { readonly accountId: string; readonly start: () => void }[] = [];
  /** The number of the last turn of each account that has running or waiting tasks. */
  readonly #lastTurns = new Map<string, number>();
  #runningAll = 0;
  #turns = 0;

  constructor(limits: SemaphoreLimits) {
    this.#limits = limits;
  }

  /**
   * Runs a task when it is its turn. Throws resource_exhausted if too many of the account's tasks
   * are waiting or if the turn does not come in time. Throws the signal's reason if the signal
   * aborts.
   */
  async run<T>(accountId: string, signal: AbortSignal, task: () => Promise<T>): Promise<T> {
    signal.throwIfAborted();
    if (this.#mayRun(accountId)) this.#begin(accountId);
    else await this.#turn(accountId, signal);
    try {
      return await task();
    } finally {
      this.#end(accountId);
    }
  }

  #mayRun(accountId: string): boolean {
    const { running, runningOfOne } = this.#limits;
    return this.#runningAll < running && (this.#running.get(accountId) ?? 0) < runningOfOne;
  }

  #begin(accountId: string): void {
    this.#runningAll += 1;
    this.#running.set(accountId, (this.#running.get(accountId) ?? 0) + 1);
    this.#turns += 1;
    this.#lastTurns.set(accountId, this.#turns);
  }

  #end(accountId: string): void {
    this.#runningAll -= 1;
    const left = (this.#running.get(accountId) ?? 0) - 1;
    if (left > 0) this.#running.set(accountId, left);
    else this.#running.delete(accountId);
    const turn = this.#takeNext();
    if (turn) {
      this.#begin(turn.accountId);
      turn.start();
    }
    const isHere =
      this.#running.has(accountId) || this.#waiting.some((one) => one.accountId === accountId);
    if (!isHere) this.#lastTurns.delete(accountId);
  }

  #takeNext() {
    let next = -1;
    let leastTurn = Infinity;
    for (const [at, { accountId }] of this.#waiting.entries()) {
      const lastTurn = this.#lastTurns.get(accountId) ?? 0;
      if (lastTurn >= leastTurn || !this.#mayRun(accountId)) continue;
      next = at;
      leastTurn = lastTurn;
    }
    return next < 0 ? undefined : this.#waiting.splice(next, 1)[0];
  }

  async #turn(accountId: string, signal: AbortSignal): Promise<void> {
    const { waitingOfOne, waitMsMax, busyReason } = this.#limits;
    const waiting = this.#waiting.filter((each) => each.accountId === accountId).length;
    if (waiting >= waitingOfOne)
      throw busy(busyReason, `${waiting} such calls of this account are waiting`);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const turn = { accountId, start: resolve };
    this.#waiting.push(turn);
    const leave = (reason: unknown): void => {
      const at = this.#waiting.indexOf(turn);
      if (at >= 0) this.#waiting.splice(at, 1);
      reject(reason);
    };
    const abort = (): void => leave(signal.reason);
    const timer = setTimeout(() => leave(busy(busyReason, "others take their time")), waitMsMax);
    signal.addEventListener("abort", abort, { once: true });
    try {
      await promise;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", abort);
    }
  }
}

function busy(reason: string, why: string): ServiceError {
  return new ServiceError("resource_exhausted", `${why}: try again later`, {
    reason,
    retryAfterMs: 1_000,
  });
}
