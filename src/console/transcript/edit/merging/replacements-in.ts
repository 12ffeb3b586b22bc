import { atOnce } from "../../../../std/at-once.ts";
import type { EditedParagraph } from "../model/base.ts";
import { type Replacement, replacementsBetweenSteps } from "../model/replacements.ts";

/**
 * Returns what has to be replaced in an edited text whose edges get new numbers, so that it has
 * other paragraphs.
 */
export function replacementsIn(
  before: readonly EditedParagraph[],
  after: NewParagraphs,
): Replacement[] {
  return atOnce(replacementsInSteps(before, after));
}

interface NewParagraphs {
  readonly edges: Int32Array;
  readonly paragraphs: readonly EditedParagraph[];
}

/** Does the same as replacementsIn(), and yields often. */
export function* replacementsInSteps(
  before: readonly EditedParagraph[],
  { edges, paragraphs }: NewParagraphs,
): Generator<void, Replacement[], void> {
  const moved = before.map((paragraph) => ({
    ...paragraph,
    from: edges[paragraph.from] ?? 0,
    to: edges[paragraph.to] ?? 0,
  }));
  yield;
  return yield* replacementsBetweenSteps(moved, paragraphs);
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
