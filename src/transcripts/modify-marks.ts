import { joinRanges, subtractRanges, type Range } from "./review-ranges.ts";
import type { Mark, ReviewKind } from "./review-store.ts";

/** A range to mark, or from which to remove marks. */
export interface MarkedRange extends Range {
  readonly kind: ReviewKind;
}

export interface MarkChange {
  /** The author of the change. */
  readonly author: string;
  readonly add: readonly MarkedRange[];
  /** The ranges to remove, before others are added. */
  readonly remove: readonly MarkedRange[];
}

/**
 * Returns which marks a change replaces by which, given the marks that it may touch. Marks of the
 * kind CHECKED are removed from all authors, others only from the author of the change.
 */
export function modifyMarks(
  marks: readonly Mark[],
  { author, add, remove }: MarkChange,
): { readonly gone: readonly Mark[]; readonly created: readonly Mark[] } {
  const groups = Map.groupBy(marks, (mark) => `${mark.kind} ${mark.author}`);
  for (const { kind } of add) {
    const key = `${kind} ${author}`;
    if (!groups.has(key)) groups.set(key, []);
  }
  const gone: Mark[] = [];
  const created: Mark[] = [];
  for (const [key, before] of groups) {
    const [kind, owner = ""] = key.split(" ");
    const isOwn = owner === author;
    const removed = remove.filter((range) => range.kind === kind && (isOwn || kind === "CHECKED"));
    const added = isOwn ? add.filter((range) => range.kind === kind) : [];
    const after = joinRanges([...subtractRanges(before, removed), ...added]);
    const isIn = (ranges: readonly Range[]) => {
      const known = new Set(ranges.map(({ start, end }) => `${start} ${end}`));
      return ({ start, end }: Range): boolean => known.has(`${start} ${end}`);
    };
    const [isBefore, isAfter] = [isIn(before), isIn(after)];
    gone.push(...before.filter((mark) => !isAfter(mark)));
    const reviewKind = kind === "CHECKED" ? kind : "LISTENED";
    for (const range of after) {
      if (!isBefore(range)) created.push({ ...range, kind: reviewKind, author: owner });
    }
  }
  return { gone, created };
}
