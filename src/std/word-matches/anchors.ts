import type { Matches } from "./shortest-script.ts";

/**
 * Returns the longest increasing run of words that occur once on each side and are therefore
 * certain to be the same. Yields between its passes.
 */
export function* anchorsOfSteps(
  before: Int32Array,
  after: Int32Array,
): Generator<void, Matches, void> {
  const places = placesOf(before);
  yield;
  const otherPlaces = placesOf(after);
  yield;
  const candidates: { readonly at: number; readonly otherAt: number }[] = [];
  for (const [word, at] of places) {
    const otherAt = otherPlaces.get(word) ?? repeated;
    if (at !== repeated && otherAt !== repeated) candidates.push({ at, otherAt });
  }
  yield;
  return longestRise(candidates);
}

const repeated = -1;

/**
 * Returns the position of each word, in the order of first occurrence; `repeated` if the word
 * occurs more than once.
 */
function placesOf(words: Int32Array): Map<number, number> {
  const places = new Map<number, number>();
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? 0;
    places.set(word, places.has(word) ? repeated : at);
  }
  return places;
}

/**
 * Returns the longest subsequence of `candidates` that increases on the other side. The candidates
 * themselves increase on the first side.
 */
function longestRise(
  candidates: readonly { readonly at: number; readonly otherAt: number }[],
): Matches {
  // For each length, the last candidate of the run with the lowest end.
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
