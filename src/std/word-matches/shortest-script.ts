/**
 * Pairs of words, each given by an index on each side. Both indexes increase from pair to pair.
 */
export interface Matches {
  readonly before: number[];
  readonly after: number[];
}

/** An edit script that begins at the start of two texts. */
export interface Script {
  readonly pairs: Matches;
  /**
   * The distance that the script reaches in each text. It does not reach the ends if no script of
   * at most `editsMax` edits does.
   */
  readonly end: number;
  readonly otherEnd: number;
}

/**
 * Returns the pairs of a longest common subsequence, by Myers' greedy search (An O(ND) Difference
 * Algorithm and Its Variations, 1986). If more than `editsMax` words would be removed and added, or
 * if the budget is spent, returns the furthest-reaching script that was found. Yields after each
 * number of edits.
 */
export function* shortestScriptSteps(
  before: Int32Array,
  after: Int32Array,
  { editsMax, budget }: { readonly editsMax: number; readonly budget: { steps: number } },
): Generator<void, Script, void> {
  const [count, otherCount] = [before.length, after.length];
  const most = Math.min(editsMax, count + otherCount);
  // The furthest position in `before` on each diagonal (position - position in `after`), from -most
  // - 1.
  const furthest = new Int32Array(2 * most + 3);
  const middle = most + 1;
  const trail: Int32Array[] = [];
  let best = { end: 0, otherEnd: 0 };
  for (let edits = 0; edits <= most && budget.steps > 0; edits += 1) {
    trail.push(furthest.slice(middle - edits - 1, middle + edits + 2));
    best = { end: 0, otherEnd: 0 };
    for (let diagonal = -edits; diagonal <= edits; diagonal += 2) {
      const isDown = cameDown(furthest, middle + diagonal, diagonal, edits);
      let at = isDown
        ? valueAt(furthest, middle + diagonal + 1)
        : valueAt(furthest, middle + diagonal - 1) + 1;
      let otherAt = at - diagonal;
      const start = at;
      while (at < count && otherAt < otherCount && before[at] === after[otherAt]) {
        at += 1;
        otherAt += 1;
      }
      budget.steps -= at - start + 1;
      furthest[middle + diagonal] = at;
      const isInside = at <= count && otherAt <= otherCount;
      if (isInside && at + otherAt > best.end + best.otherEnd)
        best = { end: at, otherEnd: otherAt };
      if (at === count && otherAt === otherCount) return scriptTo(trail, best);
    }
    yield;
  }
  return scriptTo(trail, best);
}

function scriptTo(trail: readonly Int32Array[], { end, otherEnd }: Omit<Script, "pairs">): Script {
  return { pairs: pairsOf(trail, end, otherEnd), end, otherEnd };
}

/**
 * Whether the furthest path to a diagonal came from the diagonal above, by adding a word of
 * `after`.
 */
function cameDown(furthest: Int32Array, index: number, diagonal: number, edits: number): boolean {
  if (diagonal === -edits) return true;
  return diagonal !== edits && valueAt(furthest, index - 1) < valueAt(furthest, index + 1);
}

/**
 * Follows the path back. `trail[edits]` contains the furthest reach before that step, from diagonal
 * -edits - 1.
 */
function pairsOf(trail: readonly Int32Array[], count: number, otherCount: number): Matches {
  const pairs: Matches = { before: [], after: [] };
  let [at, otherAt] = [count, otherCount];
  for (let edits = trail.length - 1; edits >= 0; edits -= 1) {
    const furthest = trail[edits] ?? new Int32Array();
    const diagonal = at - otherAt;
    const index = diagonal + edits + 1;
    const isDown = cameDown(furthest, index, diagonal, edits);
    const previous =
      edits === 0 ? 0 : isDown ? valueAt(furthest, index + 1) : valueAt(furthest, index - 1);
    const start = edits === 0 || isDown ? previous : previous + 1;
    while (at > start) {
      at -= 1;
      otherAt -= 1;
      pairs.before.push(at);
      pairs.after.push(otherAt);
    }
    at = previous;
    otherAt = edits === 0 ? 0 : previous - (isDown ? diagonal + 1 : diagonal - 1);
  }
  pairs.before.reverse();
  pairs.after.reverse();
  return pairs;
}

function valueAt(numbers: Int32Array, index: number): number {
  return numbers[index] ?? 0;
}
