/**
 * Reads by id, each at most so long ago that what was revoked ends within the second that decisions
 * (Access) allow.
 */
export interface KeptReads<T> {
  readonly find: (id: string) => Promise<T | undefined>;
  /** The next find() reads anew. */
  readonly forget: (id: string) => void;
}

/** Half of what decisions allow: the other half is for the read itself. */
const keepMsMax = 500;
/** Entries kept, of what exists and of ids that do not. */
const entriesMax = 10_000;

/**
 * One read at a time for an id, its answer kept for keepMsMax from when the read began; failures
 * are not kept.
 */
export function keepReads<T>(
  now: () => number,
  read: (id: string, before: T | undefined) => Promise<T | undefined>,
): KeptReads<T> {
  const entries = new Map<
    string,
    { readonly at: number; readonly value: Promise<T | undefined> }
  >();
  return {
    find(id) {
      const entry = entries.get(id);
      const age = entry ? now() - entry.at : Infinity;
      if (entry && age >= 0 && age < keepMsMax) return entry.value;
      const value = (entry?.value ?? Promise.resolve(undefined))
        .catch(() => undefined)
        .then((before) => read(id, before));
      const made = { at: now(), value };
      keep(entries, id, made);
      value.catch(() => {
        if (entries.get(id) === made) entries.delete(id);
      });
      return value;
    },
    forget(id) {
      entries.delete(id);
    },
  };
}

/** Puts an entry last and drops the oldest when there are too many. */
export function keep<T>(entries: Map<string, T>, id: string, value: T): void {
  entries.delete(id);
  entries.set(id, value);
  if (entries.size <= entriesMax) return;
  for (const oldest of entries.keys()) {
    entries.delete(oldest);
    return;
  }
}
