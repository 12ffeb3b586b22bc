/**
 * The maximum number of words in a paragraph. Longer segments are split at the end of a sentence.
 */
export const paragraphWordsMax = 150;

/**
 * Returns the end of the paragraph that begins with word `from` of a segment: the end of the
 * segment, or of a sentence in the paragraph's second half.
 */
export function paragraphEnd(
  wordCount: number,
  from: number,
  wordAt: (index: number) => string,
): number {
  if (wordCount - from <= paragraphWordsMax) return wordCount;
  const latest = from + paragraphWordsMax;
  for (let end = latest; end > from + paragraphWordsMax / 2; end--) {
    if (/[.?!…]["“”»')]*\s*$/.test(wordAt(end - 1))) return end;
  }
  return latest;
}
