import type { HeldBytes, HeldShare } from "../std/held-bytes.ts";

interface Waiting {
  readonly bytes: number;
  readonly begin: (share: HeldShare) => void;
}

/**
 * A limit on memory in use, with a queue for each account: first come, first served within an
 * account, and independent of the queues of other accounts.
 */
export class HeldRoom {
  readonly #held: HeldBytes;
  /** The waiting calls by account, the longest wait first. */
  readonly #waiting = new Map<string, Set<Waiting>>();

  constructor(held: HeldBytes) {
    this.#held = held;
  }

  /** Returns the number of waiting calls of the account. */
  waitingOf(accountId: string): number {
    return this.#waiting.get(accountId)?.size ?? 0;
  }

  /**
   * Reserves the bytes until the result is disposed of. Throws resource_exhausted if there is no
   * room within `msMax`, and the signal's reason when it aborts.
   */
  async take(
    accountId: string,
    bytes: number,
    { msMax, signal }: { readonly msMax: number; readonly signal: AbortSignal },
  ): Promise<Disposable> {
    const isFree = this.waitingOf(accountId) === 0 && this.#held.hasRoom(accountId, bytes);
    const share = isFree
      ? this.#held.hold(accountId, bytes)
      : await this.#turn(accountId, bytes, { msMax, signal });
    return {
      [Symbol.dispose]: () => {
        share[Symbol.dispose]();
        this.#beginOthers();
      },
    };
  }

  async #turn(
    accountId: string,
    bytes: number,
    { msMax, signal }: { readonly msMax: number; readonly signal: AbortSignal },
  ): Promise<HeldShare> {
    const { promise, resolve, reject } = Promise.withResolvers<HeldShare>();
    const waiting: Waiting = { bytes, begin: resolve };
    const own = this.#waiting.get(accountId) ?? new Set();
    this.#waiting.set(accountId, own.add(waiting));
    const onAbort = (): void => reject(signal.reason);
    signal.addEventListener("abort", onAbort);
    const timer = setTimeout(() => {
      // The error of hold() states which limit was reached.
      try {
        resolve(this.#held.hold(accountId, bytes));
      } catch (error) {
        reject(error);
      }
    }, msMax);
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
      this.#leave(accountId, waiting);
    }
  }

  #leave(accountId: string, waiting: Waiting): void {
    const own = this.#waiting.get(accountId);
    if (own?.delete(waiting) && own.size === 0) this.#waiting.delete(accountId);
  }

  #beginOthers(): void {
    for (const [accountId, own] of this.#waiting) {
      for (const waiting of own) {
        if (!this.#held.hasRoom(accountId, waiting.bytes)) break;
        this.#leave(accountId, waiting);
        waiting.begin(this.#held.hold(accountId, waiting.bytes));
      }
    }
  }
}
