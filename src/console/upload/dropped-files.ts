/** Takes files that were dropped on a page; returns false for files that it does not want. */
type DropTaker = (files: readonly File[]) => boolean;

const takers = new Set<DropTaker>();
let waiting: readonly File[] = [];

/** Adds what a page does with dropped files while it is open. The result removes it. */
export function takeDrops(taker: DropTaker): () => void {
  takers.add(taker);
  return () => takers.delete(taker);
}

/** Offers dropped files to the open page, and returns whether it has taken them. */
export function offerDrop(files: readonly File[]): boolean {
  return [...takers].some((taker) => taker(files));
}

/** Keeps dropped files for the page of imports, which opens next. */
export function keepForImport(files: readonly File[]): void {
  waiting = files;
}

/** Returns the files of keepForImport(), once. */
export function takeKept(): readonly File[] {
  const kept = waiting;
  waiting = [];
  return kept;
}
