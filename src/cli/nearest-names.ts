/**
 * Returns ": did you mean a, b?" for an unknown name, with similar names or names that contain it.
 */
export function nearestNames(name: string, known: readonly string[]): string {
  const near = nearest(
    known.map((each) => ({ names: [each], each })),
    name,
  );
  return didYouMean(near.map(({ each }) => each));
}

/**
 * Returns at most three items whose names differ little from `name` or contain it, the most similar
 * first.
 */
export function nearest<Named extends { readonly names: readonly string[] }>(
  known: readonly Named[],
  name: string,
): Named[] {
  const wanted = name.toLowerCase();
  return known
    .map((each) => {
      const names = each.names.map((other) => other.toLowerCase());
      const apart = Math.min(...names.map((other) => distance(wanted, other)));
      const isPart = wanted !== "" && names.some((other) => other.includes(wanted));
      return { each, apart, isNear: apart <= 3 || isPart };
    })
    .filter(({ isNear }) => isNear)
    .toSorted((a, b) => a.apart - b.apart)
    .slice(0, 3)
    .map(({ each }) => each);
}

export function didYouMean(near: readonly string[]): string {
  return near.length === 0 ? "" : `: did you mean ${near.join(", ")}?`;
}

/** Returns the number of insertions, deletions and replacements (Levenshtein distance). */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (const letter of a) {
    const [first = 0] = row;
    const next = [first + 1];
    for (const [at, other] of b.split("").entries()) {
      const replaced = (row[at] ?? 0) + (letter === other ? 0 : 1);
      next.push(Math.min(replaced, (row[at + 1] ?? 0) + 1, (next[at] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
