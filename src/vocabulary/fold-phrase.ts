import { hintWords } from "../engines/protocol/hint-words.ts";
import { foldText } from "../std/fold-text.ts";

/**
 * Returns the words of a phrase without letter case and punctuation, joined by spaces. Phrases that
 * fold to the same text are the same to engines; a phrase without words folds to "".
 */
export function foldPhrase(phrase: string): string {
  return foldText(hintWords(phrase).join(" ")).replaceAll("’", "'");
}
