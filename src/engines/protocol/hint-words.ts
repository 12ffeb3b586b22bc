const run = /[\p{L}\p{M}\p{N}'’]+/gu;

/** The words of a phrase as it is written, with only their letters, digits and apostrophes. */
export function hintWords(phrase: string): readonly string[] {
  return phrase.normalize("NFC").match(run) ?? [];
}

/** The words of a phrase in lower case, with straight apostrophes. */
export function foldedWords(phrase: string): readonly string[] {
  return hintWords(phrase.normalize("NFC").toLowerCase().replaceAll("’", "'"));
}
