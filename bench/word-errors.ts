/** Returns the words of a text for comparison, in lower case and without punctuation. */
export function wordsOf(text: string): string[] {
  const plain = text.toLowerCase().replaceAll(/[^\p{L}\p{N}\s]/gu, "");
  return plain.split(/\s+/).filter((word) => word !== "");
}

/**
 * Returns the minimum number of words to replace, delete and insert that turns one text into the
 * other. This number divided by the number of words in `said` is the word error rate.
 */
export function wordErrors(said: readonly string[], recognized: readonly string[]): number {
  let row = recognized.map((_, index) => index + 1);
  for (const [index, word] of said.entries()) {
    let diagonal = index;
    let left = index + 1;
    row = row.map((above, at) => {
      const replaced = diagonal + (recognized[at] === word ? 0 : 1);
      diagonal = above;
      left = Math.min(left + 1, above + 1, replaced);
      return left;
    });
  }
  return row.at(-1) ?? said.length;
}
