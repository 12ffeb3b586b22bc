/** The number of words that are in one map. */
const firstMax = 4_096;
/** A power of two, so that the last bits of a hash choose a map. */
const mapsCount = 64;
/** The number of characters that choose the map of a word. Words with times begin with those. */
const hashedChars = 12;

/**
 * Gives words numbers, so that equal words have equal numbers: 0, 1, 2 and so on. A Map that grows
 * copies all that it has at once, which takes 20 ms with 131,072 words. So there are several.
 */
export class WordNumbers {
  readonly #first = new Map<string, number>();
  readonly #others: Map<string, number>[] = [];
  #size = 0;

  /** The number of different words. */
  get size(): number {
    return this.#size;
  }

  of(word: string): number {
    const inFirst = this.#first.get(word);
    if (inFirst !== undefined) return inFirst;
    const map = this.#size < firstMax ? this.#first : this.#otherOf(word);
    const known = map.get(word);
    if (known !== undefined) return known;
    const number = this.#size;
    map.set(word, number);
    this.#size += 1;
    return number;
  }

  #otherOf(word: string): Map<string, number> {
    return (this.#others[hashOf(word) % mapsCount] ??= new Map());
  }
}

function hashOf(word: string): number {
  let hash = 0;
  const length = Math.min(word.length, hashedChars);
  for (let at = 0; at < length; at += 1) hash = (hash * 31 + word.charCodeAt(at)) % 65_536;
  return hash;
}
