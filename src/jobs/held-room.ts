import type { HeldBytes, HeldShare } from "../std/held-bytes.ts";
import { ServiceError } from "../std/service-error.ts";

interface Waiting {
  readonly accountId: string;
  readonly bytes: number;
  readonly begin: (share: HeldShare) => void;
}

/** Room in memory that is waited for, account by account in the order of asking. */
export class HeldRoom {
  readonly #held: HeldBytes;
  readonly #waiting = new Set<Waiting>();

  constructor(held: HeldBytes) {
    this.#held = held;
  }

  /** Holds so many bytes until it is disposed of. Throws resource_exhausted when there is no room for `msMax`, the signal's reason when it aborts. */
  async take(
    accountId: string,
    bytes: number,
    { msMax, signal }: { readonly msMax: number; readonly signal: AbortSignal },
  ): Promise<Disposable> {
    const hasEarlier = this.#waiting.values().some((each) => each.accountId === accountId);
    const share = hasEarlier ? undefined : this.#hold(accountId, bytes);
    return this.#released(share ?? (await this.#turn(accountId, bytes, { msMax, signal })));
  }

  #released(share: HeldShare): Disposable {
    return {
      [Symbol.dispose]: () => {
        share[Symbol.dispose]();
        this.#beginOthers();
      },
    };
  }

  /** undefined: there is no room. */
  #hold(accountId: string, bytes: number): HeldShare | undefined {
    try {
      return this.#held.hold(accountId, bytes);
    } catch (error) {
      if (error instanceof ServiceError) return undefined;
      throw error;
    }
  }

  async #turn(
    accountId: string,
    bytes: number,
    { msMax, signal }: { readonly msMax: number; readonly signal: AbortSignal },
  ): Promise<HeldShare> {
    const { promise, resolve, reject } = Promise.withResolvers<HeldShare>();
    const waiting: Waiting = { accountId, bytes, begin: resolve };
    this.#waiting.add(waiting);
    const onAbort = (): void => reject(signal.reason);
    signal.addEventListener("abort", onAbort);
    const timer = setTimeout(() => {
      // What it says is what there is no room for.
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
      this.#waiting.delete(waiting);
    }
  }

  #beginOthers(): void {
    const full = new Set<string>();
    for (const waiting of this.#waiting) {
      const { accountId, bytes, begin } = waiting;
      if (full.has(accountId)) continue;
      const share = this.#hold(accountId, bytes);
      if (share) {
        this.#waiting.delete(waiting);
        begin(share);
      } else full.add(accountId);
    }
  }
}
