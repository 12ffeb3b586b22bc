/**
 * Returns the minimum number of characters (code points) to replace, delete and insert that turns
 * one text into the other. Time is proportional to the product of the lengths, divided by 32.
 */
export function countCharacterErrors(said: string, recognized: string): number {
  const [one, other] = [codePoints(said), codePoints(recognized)];
  let start = 0;
  while (start < Math.min(one.length, other.length) && one[start] === other[start]) start += 1;
  let end = 0;
  const endMax = Math.min(one.length, other.length) - start;
  while (end < endMax && one.at(-1 - end) === other.at(-1 - end)) end += 1;
  return distance(one.subarray(start, one.length - end), other.subarray(start, other.length - end));
}

function codePoints(text: string): Uint32Array {
  return Uint32Array.from(text, (letter) => letter.codePointAt(0) ?? 0);
}

const wordBits = 32;

/**
 * Returns the distance, for 32 rows of the table at a time: the differences between neighboring
 * cells are bits (Myers, A fast bit-vector algorithm for approximate string matching based on
 * dynamic programming, 1999).
 */
function distance(one: Uint32Array, other: Uint32Array): number {
  if (one.length === 0) return other.length;
  const blocks = Math.ceil(one.length / wordBits);
  const places = placesOf(one, blocks);
  const nowhere = new Int32Array(blocks);
  // Bits of the rows in which the cell is one more, or one less, than the cell above it.
  const more = new Int32Array(blocks).fill(-1);
  const less = new Int32Array(blocks);
  const lastBit = 1 << ((one.length - 1) % wordBits);
  let errors = one.length;
  for (const letter of other) {
    const equal = places.get(letter) ?? nowhere;
    // The first row grows by one with each letter.
    let carryMore = 1;
    let carryLess = 0;
    for (let block = 0; block < blocks; block += 1) {
      const above = more[block] ?? 0;
      const below = less[block] ?? 0;
      const found = equal[block] ?? 0;
      const entry = found | carryLess;
      const vertical = found | below;
      const diagonal = (((entry & above) + above) ^ above) | entry;
      let right = below | ~(diagonal | above);
      let left = above & diagonal;
      if (block === blocks - 1)
        errors += Number((right & lastBit) !== 0) - Number((left & lastBit) !== 0);
      const nextMore = right >>> 31;
      const nextLess = left >>> 31;
      right = (right << 1) | carryMore;
      left = (left << 1) | carryLess;
      more[block] = left | ~(vertical | right);
      less[block] = right & vertical;
      carryMore = nextMore;
      carryLess = nextLess;
    }
  }
  return errors;
}

/** Returns the bits of the rows of each letter. */
function placesOf(letters: Uint32Array, blocks: number): Map<number, Int32Array> {
  const places = new Map<number, Int32Array>();
  for (const [at, letter] of letters.entries()) {
    const bits = places.get(letter) ?? new Int32Array(blocks);
    const block = Math.floor(at / wordBits);
    bits[block] = (bits[block] ?? 0) | (1 << (at % wordBits));
    places.set(letter, bits);
  }
  return places;
}
