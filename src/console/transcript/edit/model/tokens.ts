/** A word of a text, as it is written. Tokens joined are the text. */
export interface Token {
  /** The word without the whitespace around it. */
  readonly word: string;
  /** The offset of the word itself in the text. */
  readonly begin: number;
  /** The range in the text, in UTF-16 code units, including the whitespace after the word. */
  readonly from: number;
  readonly to: number;
}

/**
 * Splits a text before each word. Whitespace belongs to the word before it, or to the first word. A
 * text of whitespace only is one token.
 */
export function tokensOf(text: string): Token[] {
  const tokens: Token[] = [];
  let from = 0;
  for (const { 0: found, index } of text.matchAll(/\S+\s*/g)) {
    const to = index + found.length;
    tokens.push({ word: found.trimEnd(), begin: index, from, to });
    from = to;
  }
  if (tokens.length === 0 && text !== "")
    tokens.push({ word: "", begin: 0, from: 0, to: text.length });
  return tokens;
}

/**
 * Estimates how long it takes to say a word, in seconds (Baume et al., Semantic-aware speech
 * editing). Only the ratios matter where a span is shared.
 */
export function spokenSeconds(word: string): number {
  return 0.085 + 0.054 * word.trim().length;
}
