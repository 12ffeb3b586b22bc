import type { EditedParagraph } from "../model/base.ts";
import { type Replacement, replacementsBetween } from "../model/replacements.ts";

/**
 * Returns what has to be replaced in an edited text whose edges get new numbers, so that it has
 * other paragraphs.
 */
export function replacementsIn(
  before: readonly EditedParagraph[],
  {
    edges,
    paragraphs,
  }: { readonly edges: Int32Array; readonly paragraphs: readonly EditedParagraph[] },
): Replacement[] {
  const moved = before.map((paragraph) => ({
    ...paragraph,
    from: edges[paragraph.from] ?? 0,
    to: edges[paragraph.to] ?? 0,
  }));
  return replacementsBetween(moved, paragraphs);
}

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
