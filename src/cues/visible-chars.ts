const graphemes = new Intl.Segmenter("und", { granularity: "grapheme" });
/**
 * Matches text of characters that never combine with their neighbors: Latin, Greek, Cyrillic,
 * punctuation, kana, Han, Hangul syllables.
 */
const plain =
  /^[ -~\u00a0-\u00ac\u00ae-\u02ff\u0370-\u0482\u048a-\u052f\u2010-\u2027\u3001-\u3029\u3041-\u3096\u30a1-\u30fa\u4e00-\u9fff\uac00-\ud7a3]*$/;

/** Returns the number of characters that readers see: grapheme clusters (Unicode, annex 29). */
export function visibleChars(text: string): number {
  if (plain.test(text)) return text.length;
  let count = 0;
  for (const _ of graphemes.segment(text)) count += 1;
  return count;
}

/** Splits a text into sections of at most `charsMax` visible characters. */
export function sectionsOfChars(text: string, charsMax: number): string[] {
  const sections: string[] = [];
  let section = "";
  let count = 0;
  for (const { segment } of graphemes.segment(text)) {
    if (count === charsMax) {
      sections.push(section);
      section = "";
      count = 0;
    }
    section += segment;
    count += 1;
  }
  return section === "" ? sections : [...sections, section];
}
