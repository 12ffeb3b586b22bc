import { LRUCache } from "lru-cache";

/**
 * Reads by id that are cached only briefly, so that a revoked credential is refused within the
 * second that docs/api.md allows.
 */
export interface CachedReads<T> {
  readonly find: (id: string) => Promise<T | undefined>;
  /** Makes the next find() read the id again. */
  readonly forget: (id: string) => void;
}

/** Half of the second that docs/api.md allows: the other half is for the read itself. */
const cacheMsMax = 500;
/** The default maximum number of cached ids, whether they exist or not. */
export const cachedMax = 10_000;

/**
 * Reads an id only once at a time. Keeps the result for cacheMsMax, counted from the start of the
 * read; failures are not kept.
 */
export function cacheReads<T>(
  now: () => number,
  read: (id: string, before: T | undefined) => Promise<T | undefined>,
  idsMax = cachedMax,
): CachedReads<T> {
  // LRUCache.fetch() is not used, because it forgets ids that do not exist, and counts the time
  // from the end of a read.
  const entries = new LRUCache<
    string,
    { readonly at: number; readonly value: Promise<T | undefined> }
  >({ max: idsMax });
  return {
    find(id) {
      const entry = entries.get(id);
      const age = entry ? now() - entry.at : Infinity;
      if (entry && age >= 0 && age < cacheMsMax) return entry.value;
      const value = (entry?.value ?? Promise.resolve(undefined))
        .catch(() => undefined)
        .then((before) => read(id, before));
      const made = { at: now(), value };
      entries.set(id, made);
      value.catch(() => {
        if (entries.peek(id) === made) entries.delete(id);
      });
      return value;
    },
    forget(id) {
      entries.delete(id);
    },
  };
}
