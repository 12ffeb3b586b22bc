/**
 * Returns the name of the lock that a tab holds while it shows a transcript. It has the time at
 * which the tab was shown last.
 */
export function transcriptLock(owner: string, name: string, shownMs: number): string {
  return `${prefixOf(owner)}${shownMs} ${name}`;
}

/**
 * Returns the names of the transcripts of these locks, without those of other owners: those that
 * were shown last come first, `max` at most.
 */
export function shownLast(locks: readonly string[], owner: string, max: number): string[] {
  const prefix = prefixOf(owner);
  const shown = locks
    .filter((lock) => lock.startsWith(prefix))
    .map((lock) => {
      const [shownMs = "", name = ""] = lock.slice(prefix.length).split(" ");
      return { shownMs: Number(shownMs), name };
    })
    .toSorted((one, other) => other.shownMs - one.shownMs);
  return [...new Set(shown.map(({ name }) => name))].slice(0, max);
}

function prefixOf(owner: string): string {
  return `hlust.transcript ${owner} `;
}
