/**
 * Removes case differences from a text by the rules of Unicode, for searches. Each of these groups
 * folds to one text: ÞÁ and þá; STRASSE, straße and STRAẞE; ΟΔΟΣ and οδος; ﬁ and FI; the letters I,
 * i, İ and ı. The result is composed (NFC), so that the same letters have the same code points
 * regardless of how they were typed. The result can be longer than the text. Folding is idempotent.
 */
export function foldText(text: string): string {
  return (
    text
      .normalize("NFC")
      // toUpperCase() expands ß and ligatures, but not the capital ẞ, which toLowerCase() must
      // first convert to ß.
      .toLowerCase()
      .toUpperCase()
      .toLowerCase()
      .replaceAll("ς", "σ")
      // This removes the rest of İ: in Turkish, the dot belongs to the letter.
      .replaceAll(/i\u0307+/g, "i")
      .normalize("NFC")
  );
}
