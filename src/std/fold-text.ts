/**
 * A text without its case, by Unicode, to search for parts of it: these pairs and sets fold to the
 * same text: ÞÁ and þá; STRASSE, straße and STRAẞE; ΟΔΟΣ and οδος; ﬁ and FI; the four letters I, i,
 * İ and ı. Composed (NFC), so that the same letters have the same code points however they were
 * typed. The folded text can be longer. Folding is idempotent.
 */
export function foldText(text: string): string {
  return (
    text
      .normalize("NFC")
      // Upper case splits ß and ligatures; only lower case does that to the capital ẞ.
      .toLowerCase()
      .toUpperCase()
      .toLowerCase()
      .replaceAll("ς", "σ")
      // The rest of İ: in Turkish the dot belongs to the letter.
      .replaceAll(/i\u0307+/g, "i")
      .normalize("NFC")
  );
}
