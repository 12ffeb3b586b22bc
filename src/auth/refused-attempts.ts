import { addressBlock } from "../std/address-block.ts";
import { ServiceError } from "../std/service-error.ts";

/** Slows whoever shows tokens that are refused, by their address (an IPv6 address by its /64). */
export interface RefusedAttempts {
  /**
   * What `check` answers, undefined for a token that is refused. Throws resource_exhausted (reason
   * TOO_MANY_REFUSED, RetryInfo), without a check, where too many from the address were refused;
   * `isKnown` ones, which were good before, are always checked.
   */
  attempt<T>(
    address: string,
    token: string,
    check: () => Promise<T | undefined>,
    isKnown?: boolean,
  ): Promise<T | undefined>;
}

const minuteMs = 60_000;
/**
 * Addresses that are remembered at least, the last that were refused; at most twice as many. About
 * a hundred bytes each.
 */
const addressesMin = 50_000;

/**
 * So many of an address may be refused at once, and again as many spread over each minute after.
 * What is being checked counts as refused until it is good: a thousand at once are not a thousand
 * checks.
 */
export function createRefusedAttempts(
  perMinute: number,
  now: () => number = () => performance.now(),
): RefusedAttempts {
  const everyMs = minuteMs / perMinute;
  const fullAt = new Recent();
  /**
   * Tokens that are being checked, and whether they are refused in the end: the same one again
   * waits for that, and takes no attempt.
   */
  const pending = new Map<string, Promise<boolean>>();

  const waitMs = (block: string): number => fullAt.get(block) - now() - (perMinute - 1) * everyMs;
  const take = (block: string): void => {
    fullAt.set(block, Math.max(fullAt.get(block), now()) + everyMs);
  };
  const giveBack = (block: string): void => {
    fullAt.set(block, fullAt.get(block) - everyMs);
  };
  const refuseOver = (block: string): void => {
    const ms = waitMs(block);
    if (ms > 0) throw tooMany(perMinute, ms);
  };

  const checkKnown = async <T>(address: string, check: () => Promise<T | undefined>) => {
    const found = await check();
    if (found !== undefined) return found;
    const block = addressBlock(address);
    refuseOver(block);
    take(block);
    return undefined;
  };

  return {
    async attempt(address, token, check, isKnown = false) {
      if (isKnown) return await checkKnown(address, check);
      const block = addressBlock(address);
      const key = `${block} ${token}`;
      const same = pending.get(key);
      // Refused ones that come together are checked once; good ones each for itself, for some are
      // good for one call.
      if (same) return (await same) ? undefined : await checkKnown(address, check);
      refuseOver(block);
      take(block);
      const verdict = Promise.withResolvers<boolean>();
      pending.set(key, verdict.promise);
      let isRefused = false;
      try {
        const found = await check();
        isRefused = found === undefined;
        return found;
      } finally {
        pending.delete(key);
        if (!isRefused) giveBack(block);
        verdict.resolve(isRefused);
      }
    },
  };
}

/**
 * For each address when it will have all of its attempts again: each that is taken moves that away.
 * What was not set for the longest is forgotten, half of all at once: a Map finds its oldest entry
 * slowly where many before it are deleted.
 */
class Recent {
  #young = new Map<string, number>();
  #old: ReadonlyMap<string, number> = new Map<string, number>();

  get(block: string): number {
    return this.#young.get(block) ?? this.#old.get(block) ?? 0;
  }

  set(block: string, at: number): void {
    this.#young.set(block, at);
    if (this.#young.size < addressesMin) return;
    this.#old = this.#young;
    this.#young = new Map();
  }
}

function tooMany(perMinute: number, retryAfterMs: number): ServiceError {
  return new ServiceError(
    "resource_exhausted",
    `more than ${perMinute} tokens from this address were refused within a minute: a new one is looked at again in a moment`,
    {
      reason: "TOO_MANY_REFUSED",
      retryAfterMs: Math.ceil(retryAfterMs),
      metadata: { limit: `${perMinute}` },
    },
  );
}
