/**
 * Removes what is in square brackets or parentheses, as remarks such as "(laughter)" are. Bracketed
 * words become empty, so that the others keep their indexes. A bracket that is not closed is kept.
 */
export function withoutBrackets(words: readonly string[]): string[] {
  const text = words.join("\n");
  const kept = text.replaceAll(/\[[^[\]]*\]|\([^()]*\)/gu, (inside) =>
    inside.replaceAll(/[^\n]/gu, ""),
  );
  return kept.split("\n");
}
