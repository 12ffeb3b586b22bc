import { foldText } from "../std/fold-text.ts";

/**
 * Returns the words of a phrase without letter case and punctuation, joined by spaces. Phrases that
 * fold to the same text are the same to engines; a phrase without words folds to "".
 */
export function foldPhrase(phrase: string): string {
  const words = phrase.normalize("NFC").match(/[\p{L}\p{M}\p{N}'’]+/gu) ?? [];
  return foldText(words.join(" ")).replaceAll("’", "'");
}
