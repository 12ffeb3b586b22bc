/** ": did you mean a, b?" for a name that nothing has; names that differ in little, or have it as a part. */
export function nearestNames(name: string, known: readonly string[]): string {
  const wanted = name.toLowerCase();
  const near = known
    .map((each) => ({ each, distance: distance(wanted, each.toLowerCase()) }))
    .filter(({ each, distance }) => distance <= 3 || (wanted !== "" && each.includes(wanted)))
    .toSorted((a, b) => a.distance - b.distance)
    .slice(0, 3)
    .map(({ each }) => each);
  return near.length === 0 ? "" : `: did you mean ${near.join(", ")}?`;
}

/** Letters that have to be put in, taken out or replaced (Levenshtein). */
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
