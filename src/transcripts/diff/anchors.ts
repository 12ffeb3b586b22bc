import type { Matches } from "./shortest-script.ts";

/**
 * The longest rising run of words that are there once on each side ("patience"): surely the same
 * ones.
 */
export function anchorsOf(before: Int32Array, after: Int32Array): Matches {
  const places = placesOf(before);
  const otherPlaces = placesOf(after);
  const candidates: { readonly at: number; readonly otherAt: number }[] = [];
  for (const [word, at] of places) {
    const otherAt = otherPlaces.get(word) ?? repeated;
    if (at !== repeated && otherAt !== repeated) candidates.push({ at, otherAt });
  }
  return longestRise(candidates);
}

const repeated = -1;

/**
 * Where each word is, in order of the words' first places; `repeated` where it is more than once.
 */
function placesOf(words: Int32Array): Map<number, number> {
  const places = new Map<number, number>();
  for (const [at, word] of words.entries()) places.set(word, places.has(word) ? repeated : at);
  return places;
}

/** `candidates` rise on the first side; of them the most that rise on the other side too. */
function longestRise(
  candidates: readonly { readonly at: number; readonly otherAt: number }[],
): Matches {
  // Of the runs of each length, the one that ends lowest.
  const ends: number[] = [];
  const previous = new Int32Array(candidates.length);
  for (const [index, { otherAt }] of candidates.entries()) {
    let low = 0;
    for (let high = ends.length; low < high;) {
      const middle = (low + high) >> 1;
      const isLower = (candidates[ends[middle] ?? 0]?.otherAt ?? 0) < otherAt;
      if (isLower) low = middle + 1;
      else high = middle;
    }
    previous[index] = ends[low - 1] ?? -1;
    ends[low] = index;
  }
  const run: number[] = [];
  for (let at = ends.at(-1) ?? -1; at >= 0; at = previous[at] ?? -1) run.push(at);
  run.reverse();
  return {
    before: run.map((index) => candidates[index]?.at ?? 0),
    after: run.map((index) => candidates[index]?.otherAt ?? 0),
  };
}
