import { LRUCache } from "lru-cache";
import { addressBlock } from "../std/address-block.ts";
import { ServiceError } from "../std/service-error.ts";

/** Limits the refused tokens of an address (of the /64 of an IPv6 address). */
export interface RefusedAttempts {
  /**
   * Returns the result of `check`, in which undefined stands for a refused token. Throws
   * resource_exhausted (reason TOO_MANY_REFUSED, RetryInfo) without a check after too many refusals
   * of the address; `isKnown` tokens, which were valid before, are always checked.
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
 * The number of addresses that are remembered, the most recent ones; each takes about a hundred
 * bytes.
 */
const addressesMax = 50_000;

/**
 * An address may have `perMinute` refused tokens at once, and that many more, evenly spread, in
 * each following minute. A token that is being checked counts as refused until it proves valid, so
 * a thousand simultaneous tokens do not cause a thousand checks.
 */
export function createRefusedAttempts(
  perMinute: number,
  now: () => number = () => performance.now(),
): RefusedAttempts {
  const everyMs = minuteMs / perMinute;
  /** When each address has all of its attempts again; each attempt delays that time. */
  const fullAt = new LRUCache<string, number>({ max: addressesMax });
  /**
   * Tokens that are being checked, with whether they are refused in the end. If the same token
   * arrives again, it waits for that result and does not count as an attempt.
   */
  const pending = new Map<string, Promise<boolean>>();

  const waitMs = (block: string): number =>
    (fullAt.get(block) ?? 0) - now() - (perMinute - 1) * everyMs;
  const take = (block: string): void => {
    fullAt.set(block, Math.max(fullAt.get(block) ?? 0, now()) + everyMs);
  };
  const release = (block: string): void => {
    fullAt.set(block, (fullAt.get(block) ?? 0) - everyMs);
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
      // A refused token that arrives several times at the same moment is checked once; a valid one
      // is checked each time, since some tokens work for one call only.
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
        if (!isRefused) release(block);
        verdict.resolve(isRefused);
      }
    },
  };
}

function tooMany(perMinute: number, retryAfterMs: number): ServiceError {
  return new ServiceError(
    "resource_exhausted",
    `more than ${perMinute} tokens from this address were refused within a minute: try again later`,
    {
      reason: "TOO_MANY_REFUSED",
      retryAfterMs: Math.ceil(retryAfterMs),
      metadata: { limit: `${perMinute}` },
    },
  );
}
