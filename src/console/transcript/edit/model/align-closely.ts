/** Consecutive words of two texts that correspond. Links partition both texts, in order. */
export interface Link {
  readonly from: number;
  readonly to: number;
  readonly otherFrom: number;
  readonly otherTo: number;
  /** Whether the link is a pair of equal words. */
  readonly isSame: boolean;
}

/**
 * The costs of an alignment. A replaced word costs more than half of a deleted and an inserted
 * word, so that a word that stands between a deleted and an inserted one is not replaced itself.
 */
const costs = {
  /** An inserted or deleted word. */
  gap: 100,
  /** The same word with other capitals or punctuation. */
  folded: 20,
  /** Two words that became one, or one that became two. */
  joined: 30,
  /** A word with the same letters, and the difference to one with other letters. */
  replaced: 100,
  unlike: 80,
} as const;

/** Words that have at least this share of their letters in common replace each other. */
const likenessMin = 0.5;

const steps = { pair: 1, remove: 2, insert: 3, twoToOne: 4, oneToTwo: 5 } as const;

/** A word in both forms: as it is written, and without capitals and punctuation. */
interface Side {
  readonly words: readonly string[];
  readonly folded: readonly string[];
}

/**
 * Aligns the words of two texts at the lowest cost (Needleman and Wunsch, 1970). Both must be
 * short, because time and memory grow with the product of their lengths.
 */
export function alignClosely(words: readonly string[], otherWords: readonly string[]): Link[] {
  const one = { words, folded: words.map(folded) };
  const other = { words: otherWords, folded: otherWords.map(folded) };
  const taken = cheapestSteps(one, other);
  const links: FirmLink[] = [];
  let [to, otherTo] = [words.length, otherWords.length];
  while (to > 0 || otherTo > 0) {
    const step = taken[to * (otherWords.length + 1) + otherTo] ?? steps.insert;
    const from = to - (step === steps.insert ? 0 : step === steps.twoToOne ? 2 : 1);
    const otherFrom = otherTo - (step === steps.remove ? 0 : step === steps.oneToTwo ? 2 : 1);
    const isPair = step === steps.pair;
    const isSame = isPair && words[from] === otherWords[otherFrom];
    const isFirm =
      isSame ||
      step === steps.twoToOne ||
      step === steps.oneToTwo ||
      (isPair && likeness(one.folded[from] ?? "", other.folded[otherFrom] ?? "") >= likenessMin);
    addBefore(links, { from, to, otherFrom, otherTo, isSame, isFirm });
    [to, otherTo] = [from, otherFrom];
  }
  return links.toReversed();
}

/** A link. Consecutive links that are not firm become one. */
interface FirmLink extends Link {
  readonly isFirm: boolean;
}

/** Adds a link before the last one. */
function addBefore(links: FirmLink[], link: FirmLink): void {
  const next = links.at(-1);
  if (link.isFirm || !next || next.isFirm) links.push(link);
  else links[links.length - 1] = { ...next, from: link.from, otherFrom: link.otherFrom };
}

/** Returns the last step of the cheapest way to align each pair of beginnings. */
function cheapestSteps(one: Side, other: Side): Uint8Array {
  const width = other.words.length + 1;
  const taken = new Uint8Array((one.words.length + 1) * width);
  const rows = [0, 1, 2].map(() => new Int32Array(width));
  for (let at = 0; at <= one.words.length; at += 1) {
    const row = rowOf(rows, at);
    const previous = rowOf(rows, at + 2);
    const beforePrevious = rowOf(rows, at + 1);
    for (let otherAt = 0; otherAt < width; otherAt += 1) {
      if (at === 0 && otherAt === 0) {
        row[0] = 0;
        continue;
      }
      const removed = at > 0 ? (previous[otherAt] ?? 0) + costs.gap : Infinity;
      const inserted = otherAt > 0 ? (row[otherAt - 1] ?? 0) + costs.gap : Infinity;
      let cost = Math.min(removed, inserted);
      let step: number = removed === cost ? steps.remove : steps.insert;
      if (at > 1 && otherAt > 0) {
        const joined = (beforePrevious[otherAt - 1] ?? 0) + costs.joined;
        if (joined <= cost && isJoined(one.folded, at - 2, other.folded[otherAt - 1])) {
          cost = joined;
          step = steps.twoToOne;
        }
      }
      if (at > 0 && otherAt > 1) {
        const parted = (previous[otherAt - 2] ?? 0) + costs.joined;
        if (parted <= cost && isJoined(other.folded, otherAt - 2, one.folded[at - 1])) {
          cost = parted;
          step = steps.oneToTwo;
        }
      }
      if (at > 0 && otherAt > 0) {
        const before = previous[otherAt - 1] ?? 0;
        const paired =
          before + pairCost(one, other, { at: at - 1, otherAt: otherAt - 1, most: cost - before });
        if (paired <= cost) {
          cost = paired;
          step = steps.pair;
        }
      }
      row[otherAt] = cost;
      taken[at * width + otherAt] = step;
    }
  }
  return taken;
}

function rowOf(rows: readonly Int32Array[], index: number): Int32Array {
  return rows[index % 3] ?? new Int32Array();
}

/** Returns the cost of a pair, which is only estimated if it is more than `most`. */
function pairCost(
  one: Side,
  other: Side,
  { at, otherAt, most }: { readonly at: number; readonly otherAt: number; readonly most: number },
): number {
  if (one.words[at] === other.words[otherAt]) return 0;
  const word = one.folded[at] ?? "";
  const otherWord = other.folded[otherAt] ?? "";
  if (word === otherWord) return costs.folded;
  if (most < costs.replaced) return costs.replaced;
  return costs.replaced + Math.round(costs.unlike * (1 - likeness(word, otherWord)));
}

/** Whether a word is two consecutive words joined, as often in corrections: "al þingi". */
function isJoined(folded: readonly string[], at: number, joined = ""): boolean {
  const one = folded[at] ?? "";
  const other = folded[at + 1] ?? "";
  return one.length + other.length === joined.length && one + other === joined;
}

/** Returns the share of letters that two words have in common at their beginnings and ends. */
function likeness(one: string, other: string): number {
  const shorter = Math.min(one.length, other.length);
  const longer = Math.max(one.length, other.length);
  if (longer === 0) return 1;
  let head = 0;
  while (head < shorter && one.charCodeAt(head) === other.charCodeAt(head)) head += 1;
  let tail = 0;
  while (
    tail < shorter - head &&
    one.charCodeAt(one.length - 1 - tail) === other.charCodeAt(other.length - 1 - tail)
  ) {
    tail += 1;
  }
  return (head + tail) / longer;
}

/** Returns a word without capitals and punctuation, unless it has nothing else. */
function folded(word: string): string {
  const letters = word
    .normalize("NFC")
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{M}\p{N}]/gu, "");
  return letters === "" ? word : letters;
}
