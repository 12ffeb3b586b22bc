/** A written text in place of `count` spoken words; it has no spaces. */
export interface Piece {
  readonly text: string;
  readonly count: number;
}

/**
 * Reads what begins at the index `at`, and returns its pieces, or undefined if the rule does not
 * apply there. Words are in small letters. A rule may look at the words before `at`, and at a
 * bounded number after it, so that all rules together take linear time.
 */
export type Rule = (words: readonly string[], at: number) => readonly Piece[] | undefined;

/** Returns the text for the phrases of a table, which have at most `wordsMax` words. */
export function phraseRule(table: ReadonlyMap<string, string>, wordsMax: number): Rule {
  const starts = new Set([...table.keys()].map((phrase) => phrase.split(" ", 1)[0]));
  return (words, at) => {
    if (!starts.has(words[at])) return undefined;
    const found = readPhrase(table, wordsMax, words, at);
    return found && [found];
  };
}

/** Returns the longest phrase of a table that begins at an index. */
export function readPhrase(
  table: ReadonlyMap<string, string>,
  wordsMax: number,
  words: readonly string[],
  at: number,
): Piece | undefined {
  for (let count = Math.min(wordsMax, words.length - at); count > 0; count -= 1) {
    const text = table.get(words.slice(at, at + count).join(" "));
    if (text !== undefined) return { text, count };
  }
  return undefined;
}
