import type { Hint } from "../protocol/engine.ts";
import { SearchPool, type SearchParts } from "./search-pool.ts";

/** The maximum number of idle searches with hints that are kept; one takes about 60 MB. */
const idleMax = 3;
/** The maximum number that are kept while as many open live streams use hints. */
const reservedMax = 8;

/**
 * Pools of searches with hints, one for each list of hints and settings. A search is created on
 * another thread for the first utterance with its hints. The idle ones used last are kept.
 */
export class HintedSearches {
  readonly #parts: SearchParts;
  readonly #byKey = new Map<string, SearchPool>();
  /** All pools with searches or streams, with their keys, the least recently used first. */
  readonly #used = new Map<SearchPool, string>();

  constructor(parts: SearchParts) {
    this.#parts = parts;
  }

  /** The number of searches that are not lent. */
  get idleCount(): number {
    return this.#used.keys().reduce((sum, pool) => sum + pool.idleCount, 0);
  }

  /** Returns the pool of searches with these settings and hints. */
  pool(settings: Readonly<Record<string, string>>, hints: readonly Hint[]): SearchPool {
    const key = JSON.stringify([settings, hints]);
    const known = this.#byKey.get(key);
    if (known) return known;
    const onUse = (used: SearchPool): void => this.#use(used, key);
    const pool = new SearchPool(this.#parts, settings, { hints, onUse });
    this.#byKey.set(key, pool);
    this.#used.set(pool, key);
    return pool;
  }

  close(): void {
    for (const pool of this.#used.keys()) pool.close();
  }

  #use(pool: SearchPool, key: string): void {
    this.#used.delete(pool);
    this.#used.set(pool, key);
    const expected = this.#used.keys().reduce((sum, each) => sum + each.expected, 0);
    const keptMax = Math.max(idleMax, Math.min(reservedMax, expected));
    let excess = this.idleCount - keptMax;
    for (const [each, itsKey] of this.#used) {
      for (; excess > 0 && each.idleCount > 0; excess--) each.dropIdle();
      if (!each.isUnused) continue;
      this.#used.delete(each);
      if (this.#byKey.get(itsKey) === each) this.#byKey.delete(itsKey);
    }
  }
}
