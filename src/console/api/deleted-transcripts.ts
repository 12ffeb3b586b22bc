const deleted = new Set<string>();

/** Notes that this page has deleted transcripts. */
export function noteDeleted(names: readonly string[]): void {
  for (const name of names) deleted.add(name);
}

/** Notes that this page restores transcripts that it has deleted. */
export function noteRestored(names: readonly string[]): void {
  for (const name of names) deleted.delete(name);
}

/** Returns whether this page has deleted a transcript: it reports nothing about it any more. */
export function isDeletedHere(name: string): boolean {
  return deleted.has(name);
}
