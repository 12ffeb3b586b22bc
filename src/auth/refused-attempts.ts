import { LRUCache } from "lru-cache";
import { addressBlock } from "../std/address-block.ts";
import { ServiceError } from "../std/service-error.ts";

/** Limits the number of refused tokens from an address (for IPv6, from its /64). */
export interface RefusedAttempts {
  /**
   * Returns the result of `check`, in which undefined stands for a refused token. Throws
   * resource_exhausted (reason TOO_MANY_REFUSED, RetryInfo) without a check if the address has had
   * too many refusals. Known tokens (`isKnown`), which were valid before, are always checked.
   */
  attempt<T>(
    address: string,
    token: string,
    check: () => Promise<T | undefined>,
    isKnown?: boolean,
  ): Promise<T | undefined>;
}

const minuteMs = 60_000;
/** The number of most recent addresses that are remembered. Each takes about a hundred bytes. */
const addressesMax = 50_000;

/**
 * Limits each address to `perMinute()` refused tokens at once, and to the same number, evenly
 * spread, in each following minute. A token that is being checked counts as refused until it
 * proves valid, so a thousand simultaneous tokens do not cause a thousand checks.
 */
export function createRefusedAttempts(
  perMinute: () => number,
  now: () => number = () => performance.now(),
): RefusedAttempts {
  const everyMs = (): number => minuteMs / perMinute();
  /**
   * The time at which each address has all of its attempts again. Each attempt postpones that time.
   */
  const fullAt = new LRUCache<string, number>({ max: addressesMax });
  /**
   * Tokens that are being checked, each with a promise of whether it is refused. If the same token
   * arrives again, it waits for that result and does not count as an attempt.
   */
  const pending = new Map<string, Promise<boolean>>();

  const waitMs = (block: string): number =>
    (fullAt.get(block) ?? 0) - now() - (perMinute() - 1) * everyMs();
  const take = (block: string): void => {
    fullAt.set(block, Math.max(fullAt.get(block) ?? 0, now()) + everyMs());
  };
  const release = (block: string): void => {
    fullAt.set(block, (fullAt.get(block) ?? 0) - everyMs());
  };
  const refuseOver = (block: string): void => {
    const ms = waitMs(block);
    if (ms > 0) throw tooMany(perMinute(), ms);
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
      // A refused token that arrives several times simultaneously is checked once. A valid token is
      // checked each time, since some tokens work for one call only.
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
