import { ServiceError } from "./service-error.ts";

/** Limits of the bytes that calls hold in memory at the same time. */
export interface HeldBytesLimits {
  /** The limit of all accounts together. */
  readonly nodeBytesMax: number;
  /** The limit of one account; less than the node's, so that one account cannot use all of it. */
  readonly accountBytesMax: number;
  /** ErrorInfo.reason of a refusal. */
  readonly reason: string;
  /** The thing that is held, for the message: "request bodies". */
  readonly what: string;
}

/** Bytes that one call holds. Disposing releases all of them; disposing twice does nothing. */
export interface HeldShare extends Disposable {
  /**
   * Holds more bytes. Throws resource_exhausted (429 with RetryInfo) if that exceeds a limit; the
   * bytes that it already holds stay held.
   */
  grow(bytes: number): void;
  /** Releases some of the bytes. */
  shrink(bytes: number): void;
}

/** A client may retry after this time: most bodies and answers are released within a second. */
const retryAfterMs = 1_000;

/** Counts the bytes that calls hold in memory, by account and in all. */
export class HeldBytes {
  readonly #limits: HeldBytesLimits;
  readonly #perAccount = new Map<string, number>();
  #total = 0;

  constructor(limits: HeldBytesLimits) {
    this.#limits = limits;
  }

  /** All bytes that are held now. */
  get total(): number {
    return this.#total;
  }

  /** Whether hold() would succeed now. */
  hasRoom(accountId: string, bytes: number): boolean {
    const { nodeBytesMax, accountBytesMax } = this.#limits;
    const ofAccount = (this.#perAccount.get(accountId) ?? 0) + bytes;
    return ofAccount <= accountBytesMax && this.#total + bytes <= nodeBytesMax;
  }

  /**
   * Opens a share of the account that holds `bytes`. Throws resource_exhausted (429 with RetryInfo)
   * if that exceeds a limit.
   */
  hold(accountId: string, bytes = 0): HeldShare {
    let held = 0;
    const grow = (more: number): void => {
      this.#add(accountId, more);
      held += more;
    };
    const shrink = (less: number): void => {
      const released = Math.min(less, held);
      held -= released;
      this.#remove(accountId, released);
    };
    grow(bytes);
    return { grow, shrink, [Symbol.dispose]: () => shrink(held) };
  }

  #add(accountId: string, bytes: number): void {
    const { nodeBytesMax, accountBytesMax } = this.#limits;
    const ofAccount = (this.#perAccount.get(accountId) ?? 0) + bytes;
    if (ofAccount > accountBytesMax) throw this.#full("the account", accountBytesMax);
    if (this.#total + bytes > nodeBytesMax) throw this.#full("all accounts", nodeBytesMax);
    this.#total += bytes;
    if (ofAccount > 0) this.#perAccount.set(accountId, ofAccount);
  }

  #remove(accountId: string, bytes: number): void {
    this.#total -= bytes;
    const left = (this.#perAccount.get(accountId) ?? 0) - bytes;
    if (left > 0) this.#perAccount.set(accountId, left);
    else this.#perAccount.delete(accountId);
  }

  #full(whose: string, bytesMax: number): ServiceError {
    const { reason, what } = this.#limits;
    const problem = `the ${what} of ${whose} hold ${bytesMax} bytes of this node's memory, the limit: retry later`;
    return new ServiceError("resource_exhausted", problem, {
      reason,
      metadata: { bytesMax: `${bytesMax}` },
      retryAfterMs,
    });
  }
}
