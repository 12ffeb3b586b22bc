import type { Matches } from "./shortest-script.ts";

/** The facts about two texts that decide which of several equal words are paired. */
export interface Sides {
  readonly beforeCount: number;
  readonly afterCount: number;
  /** Whether two words of one text are equal. */
  readonly isSameBefore: (one: number, other: number) => boolean;
  readonly isSameAfter: (one: number, other: number) => boolean;
  /** Whether the times of a pair are equal. */
  readonly isKept: (before: number, after: number) => boolean;
}

/**
 * Chooses which of several equal words was removed or added, since that is ambiguous if a word is
 * repeated. The choice leaves the maximum number of pairs with equal times.
 */
export function slideGaps(matches: Matches, sides: Sides): void {
  const { before, after } = matches;
  for (let index = 1; index <= before.length; index += 1) {
    const removed = (before[index] ?? sides.beforeCount) - (before[index - 1] ?? 0) - 1;
    const added = (after[index] ?? sides.afterCount) - (after[index - 1] ?? 0) - 1;
    if (removed > 0 && added === 0) {
      slide(before, { index, by: removed, isSame: sides.isSameBefore }, (at, word) =>
        sides.isKept(word, after[at] ?? 0),
      );
    } else if (added > 0 && removed === 0) {
      slide(after, { index, by: added, isSame: sides.isSameAfter }, (at, word) =>
        sides.isKept(before[at] ?? 0, word),
      );
    }
  }
}

/**
 * The maximum distance in words by which a gap can be moved. People repeat fewer words than that.
 */
const wordsMax = 200;

/**
 * Moves a gap of `by` words before pair `index` to the left, as far as that gains pairs with equal
 * times.
 */
function slide(
  words: number[],
  gap: {
    readonly index: number;
    readonly by: number;
    readonly isSame: (one: number, other: number) => boolean;
  },
  isKept: (index: number, word: number) => boolean,
): void {
  let gain = 0;
  let best = { gain: 0, count: 0 };
  for (let count = 1; count <= Math.min(gap.index, wordsMax); count += 1) {
    const at = gap.index - count;
    const word = words[at] ?? 0;
    const isNext = count === 1 || (words[at + 1] ?? 0) === word + 1;
    if (!isNext || !gap.isSame(word, word + gap.by)) break;
    gain += (isKept(at, word + gap.by) ? 1 : 0) - (isKept(at, word) ? 1 : 0);
    if (gain > best.gain) best = { gain, count };
  }
  for (let count = 1; count <= best.count; count += 1) {
    const at = gap.index - count;
    words[at] = (words[at] ?? 0) + gap.by;
  }
}
