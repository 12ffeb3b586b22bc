import { ServiceError } from "./service-error.ts";

/** The limits on the bytes that calls concurrently hold in memory. */
export interface HeldBytesLimits {
  /** The limit for all accounts together. */
  readonly nodeBytesMax: number;
  /**
   * The limit for one account. It is lower than the node's limit, so that one account cannot use
   * all of the memory.
   */
  readonly accountBytesMax: number;
  /** The ErrorInfo.reason of a refusal. */
  readonly reason: string;
  /** A name for the content that is held, used in the message, for example "request bodies". */
  readonly what: string;
}

/**
 * The bytes that one call holds. Disposing of the share releases all of them, and a second disposal
 * has no effect.
 */
export interface HeldShare extends Disposable {
  /**
   * Holds more bytes. Throws resource_exhausted (429 with RetryInfo) if that exceeds a limit; bytes
   * that are already held are not released.
   */
  grow(bytes: number): void;
  /** Releases some of the bytes. */
  shrink(bytes: number): void;
}

/**
 * The time after which a client may retry. Most bodies and responses are released within a second.
 */
const retryAfterMs = 1_000;

/** Counts the bytes that calls hold in memory, per account and in total. */
export class HeldBytes {
  readonly #limits: HeldBytesLimits;
  readonly #perAccount = new Map<string, number>();
  #total = 0;

  constructor(limits: HeldBytesLimits) {
    this.#limits = limits;
  }

  /** The number of bytes that are currently held. */
  get total(): number {
    return this.#total;
  }

  /** Returns whether hold() would currently succeed. */
  hasRoom(accountId: string, bytes: number): boolean {
    const { nodeBytesMax, accountBytesMax } = this.#limits;
    const ofAccount = (this.#perAccount.get(accountId) ?? 0) + bytes;
    return ofAccount <= accountBytesMax && this.#total + bytes <= nodeBytesMax;
  }

  /**
   * Opens a share for the account that holds `bytes`. Throws resource_exhausted (429 with
   * RetryInfo) if that exceeds a limit.
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
