import type { EditedParagraph } from "../model/base.ts";
import type { Replacement } from "../model/replacements.ts";

/** Returns how many paragraphs of a text others have changed. */
export function changedCount(
  before: readonly EditedParagraph[],
  replacements: readonly Replacement[],
): number {
  let count = 0;
  for (const { start, end, paragraphs } of replacements) {
    const isOneByOne = paragraphs.length === end - start;
    count += paragraphs.filter((one, at) => {
      const other = isOneByOne ? before[start + at] : undefined;
      return one.text !== other?.text || one.speaker !== other.speaker;
    }).length;
  }
  return count;
}
