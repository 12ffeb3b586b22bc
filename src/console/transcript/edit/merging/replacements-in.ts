import { atOnce } from "../../../../std/at-once.ts";
import { mappedSteps } from "../model/align-tokens.ts";
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
  const moved = yield* mappedSteps(before, (paragraph) => ({
    ...paragraph,
    from: edges[paragraph.from] ?? 0,
    to: edges[paragraph.to] ?? 0,
  }));
  yield;
  return yield* replacementsBetweenSteps(moved, paragraphs);
}
