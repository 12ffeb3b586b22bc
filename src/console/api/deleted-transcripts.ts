const deleted = new Set<string>();

/** Notes that this page has deleted transcripts, or restored them. */
export function noteDeleted(names: readonly string[], isDeleted = true): void {
  for (const name of names) {
    if (isDeleted) deleted.add(name);
    else deleted.delete(name);
  }
}

/** Returns whether this page has deleted a transcript: it reports nothing about it any more. */
export function isDeletedHere(name: string): boolean {
  return deleted.has(name);
}
