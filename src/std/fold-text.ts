/**
 * A text without its case, by Unicode, for finding parts of it: ÞÁ and þá, STRASSE, straße and
 * STRAẞE, ΟΔΟΣ and οδος, ﬁ and FI, the four letters I, i, İ and ı fold alike. Composed (NFC), so
 * that the same letters have the same code points, however they were typed. The folded text can be
 * longer. Folding again changes nothing.
 */
export function foldText(text: string): string {
  return (
    text
      .normalize("NFC")
      // Capitals take ß and ligatures apart; only lower case does that to the capital ẞ.
      .toLowerCase()
      .toUpperCase()
      .toLowerCase()
      .replaceAll("ς", "σ")
      // What is left of İ: in Turkish the dot belongs to the letter.
      .replaceAll(/i\u0307+/g, "i")
      .normalize("NFC")
  );
}
