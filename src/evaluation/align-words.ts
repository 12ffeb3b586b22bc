/** A step from the reference to the recognized words; the numbers are indexes of words. */
export type Edit =
  | { readonly kind: "same" | "substitution"; readonly said: number; readonly recognized: number }
  | { readonly kind: "deletion"; readonly said: number }
  | { readonly kind: "insertion"; readonly recognized: number };

/**
 * The cost of an insertion or a deletion. A substitution costs a little more, so that of all
 * alignments with the fewest errors the one with the most equal words is found. The counts of
 * errors are then the same in both directions.
 */
const editCost = 2 ** 24;
const substitutionCost = editCost + 1;

/** The number of cells of a table that is filled at once: 4 MiB. Larger tables are halved. */
const cellsMax = 1 << 22;

interface Range {
  readonly from: number;
  readonly to: number;
  readonly otherFrom: number;
  readonly otherTo: number;
}

/**
 * Aligns the recognized words with those that were said, with the fewest errors (Levenshtein). Time
 * is proportional to the product of the lengths, memory to their sum (Hirschberg, A linear space
 * algorithm for computing maximal common subsequences, 1975).
 */
export function alignWords(said: readonly string[], recognized: readonly string[]): Edit[] {
  const numbers = new Map<string, number>();
  const numbered = (words: readonly string[]): Int32Array =>
    Int32Array.from(words, (word) => {
      const number = numbers.get(word) ?? numbers.size;
      numbers.set(word, number);
      return number;
    });
  const [one, other] = [numbered(said), numbered(recognized)];
  const edits: Edit[] = [];
  const ranges: Range[] = [{ from: 0, to: one.length, otherFrom: 0, otherTo: other.length }];
  for (let range = ranges.pop(); range; range = ranges.pop()) {
    const { from, to, otherFrom, otherTo } = range;
    const isSmall = (to - from + 1) * (otherTo - otherFrom + 1) <= cellsMax;
    if (isSmall || to - from < 2) {
      alignRange(one, other, range, edits);
      continue;
    }
    const middle = (from + to) >> 1;
    const otherMiddle = otherFrom + halfOf(one, other, range, middle);
    ranges.push({ from: middle, to, otherFrom: otherMiddle, otherTo });
    ranges.push({ from, to: middle, otherFrom, otherTo: otherMiddle });
  }
  return edits;
}

const fromBoth = 0;
const fromSaid = 1;
const fromRecognized = 2;

/** Fills the table of a range and appends its edits, in order. */
function alignRange(one: Int32Array, other: Int32Array, range: Range, edits: Edit[]): void {
  const { from, to, otherFrom, otherTo } = range;
  const width = otherTo - otherFrom + 1;
  const steps = new Uint8Array((to - from + 1) * width);
  const row = Float64Array.from({ length: width }, (_, at) => at * editCost);
  steps.fill(fromRecognized, 1, width);
  for (let at = from; at < to; at += 1) {
    const start = (at - from + 1) * width;
    let diagonal = row[0] ?? 0;
    let left = diagonal + editCost;
    row[0] = left;
    steps[start] = fromSaid;
    for (let column = 1; column < width; column += 1) {
      const above = row[column] ?? 0;
      const isSame = one[at] === other[otherFrom + column - 1];
      let cost = diagonal + (isSame ? 0 : substitutionCost);
      let step = fromBoth;
      if (above + editCost < cost) {
        cost = above + editCost;
        step = fromSaid;
      }
      if (left + editCost < cost) {
        cost = left + editCost;
        step = fromRecognized;
      }
      steps[start + column] = step;
      diagonal = above;
      left = cost;
      row[column] = cost;
    }
  }
  const found: Edit[] = [];
  let [at, otherAt] = [to, otherTo];
  while (at > from || otherAt > otherFrom) {
    const step = steps[(at - from) * width + (otherAt - otherFrom)];
    if (step !== fromRecognized) at -= 1;
    if (step !== fromSaid) otherAt -= 1;
    if (step === fromSaid) found.push({ kind: "deletion", said: at });
    else if (step === fromRecognized) found.push({ kind: "insertion", recognized: otherAt });
    else {
      const kind = one[at] === other[otherAt] ? "same" : "substitution";
      found.push({ kind, said: at, recognized: otherAt });
    }
  }
  for (const edit of found.toReversed()) edits.push(edit);
}

/** Returns the number of recognized words that the best alignment puts before `middle`. */
function halfOf(one: Int32Array, other: Int32Array, range: Range, middle: number): number {
  const { from, to, otherFrom, otherTo } = range;
  const words = other.subarray(otherFrom, otherTo);
  const before = lastRow(one.subarray(from, middle), words);
  const after = lastRow(one.subarray(middle, to).toReversed(), words.toReversed());
  let [best, found] = [Infinity, 0];
  for (const [at, cost] of before.entries()) {
    const whole = cost + (after[words.length - at] ?? 0);
    if (whole < best) [best, found] = [whole, at];
  }
  return found;
}

/** Returns the cost of aligning `one` with each prefix of `other`. */
function lastRow(one: Int32Array, other: Int32Array): Float64Array {
  const row = Float64Array.from({ length: other.length + 1 }, (_, at) => at * editCost);
  for (const word of one) {
    let diagonal = row[0] ?? 0;
    let left = diagonal + editCost;
    row[0] = left;
    for (let column = 1; column < row.length; column += 1) {
      const above = row[column] ?? 0;
      const replaced = diagonal + (word === other[column - 1] ? 0 : substitutionCost);
      left = Math.min(replaced, above + editCost, left + editCost);
      diagonal = above;
      row[column] = left;
    }
  }
  return row;
}
