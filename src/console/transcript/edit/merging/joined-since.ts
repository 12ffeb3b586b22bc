import type { EditedParagraph } from "../model/base.ts";
import type { Replacement } from "../model/replacements.ts";

/**
 * Moves replacements of paragraphs to a text that was edited since they were computed. Returns
 * undefined if one of the paragraphs to replace was edited itself.
 */
export function joinedSince(
  replacements: readonly Replacement[],
  before: readonly EditedParagraph[],
  now: readonly EditedParagraph[],
): readonly Replacement[] | undefined {
  if (before === now) return replacements;
  const length = Math.min(before.length, now.length);
  let head = 0;
  while (head < length && before[head] === now[head]) head += 1;
  let tail = 0;
  while (tail < length - head && before.at(-1 - tail) === now.at(-1 - tail)) tail += 1;
  const isUntouched = ({ start, end }: Replacement): boolean =>
    end <= head || start >= before.length - tail;
  if (!replacements.every(isUntouched)) return undefined;
  const by = now.length - before.length;
  return replacements.map((one) =>
    one.end <= head ? one : { ...one, start: one.start + by, end: one.end + by },
  );
}
