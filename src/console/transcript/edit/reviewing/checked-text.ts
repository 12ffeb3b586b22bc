import type { ReviewRangeJson } from "../../../../gen/hlust/transcripts/v1alpha1/review_pb.ts";
import type { MarkedStretch } from "../../review-query.ts";
import { firstIndex } from "../../spoken-text.ts";
import type { Base, EditedParagraph } from "../model/base.ts";
import { momentAt } from "../model/moment.ts";
import { spanOfParagraph } from "../model/review.ts";
import { isWithin, joinedRanges, type TimeRange } from "../model/time-ranges.ts";

type Span = ReturnType<typeof spanOfParagraph>;

/** The spans of paragraphs, of which an edit changes few. */
const spans = new WeakMap<EditedParagraph, { readonly base: Base; readonly span: Span }>();

function spanOf(base: Base, paragraph: EditedParagraph): Span {
  const known = spans.get(paragraph);
  if (known?.base === base) return known.span;
  const span = spanOfParagraph(base, paragraph);
  spans.set(paragraph, { base, span });
  return span;
}

/** The paragraphs of a text that stretches of time cover, and who has checked them. */
export class CheckedText {
  readonly #base: Base;
  readonly #joined: readonly TimeRange[];
  /** The stretches of each author, in order. They do not overlap. */
  readonly #byAuthor: ReadonlyMap<string, readonly MarkedStretch[]>;

  constructor(base: Base, checked: readonly MarkedStretch[]) {
    this.#base = base;
    this.#joined = joinedRanges(checked);
    this.#byAuthor = Map.groupBy(checked, ({ author }) => author);
  }

  /** Whether all of a paragraph is checked, or nothing is said in it. */
  isChecked(paragraph: EditedParagraph): boolean {
    const span = spanOf(this.#base, paragraph);
    return !span || isWithin(this.#joined, span.start.seconds, span.end.seconds);
  }

  /**
   * Returns the names of those who have checked a paragraph or a part of it, if all of it is
   * checked; undefined if it is not, or if nothing is said in it.
   */
  checkersOf(paragraph: EditedParagraph): readonly string[] | undefined {
    const span = this.#joined.length > 0 && spanOf(this.#base, paragraph);
    if (!span || !this.isChecked(paragraph)) return undefined;
    const [start, end] = [span.start.seconds, span.end.seconds];
    const names = [...this.#byAuthor.values()].flatMap((stretches) => {
      const isAfter = (at: number) => (stretches[at]?.start ?? 0) >= Math.max(end, start + 0.001);
      const last = stretches[firstIndex(stretches.length, isAfter) - 1];
      return last && last.end > start && last.by !== "" ? [last.by] : [];
    });
    return [...new Set(names)];
  }

  /**
   * Computes how much of the time in which the text is said is checked, from 0 to 1. Yields after
   * each paragraph.
   */
  *share(paragraphs: readonly EditedParagraph[]): Generator<void, number, void> {
    if (this.#joined.length === 0) return 0;
    let [all, checked] = [0, 0];
    for (const paragraph of paragraphs) {
      const span = spanOf(this.#base, paragraph);
      const seconds = span ? span.end.seconds - span.start.seconds : 0;
      all += seconds;
      if (seconds > 0 && this.isChecked(paragraph)) checked += seconds;
      yield;
    }
    return all === 0 ? 0 : checked / all;
  }
}

/** Returns the mark of a paragraph, as a range of a review; undefined if nothing is said in it. */
export function markOf(base: Base, paragraph: EditedParagraph): ReviewRangeJson | undefined {
  const span = spanOf(base, paragraph);
  if (!span) return undefined;
  const { start, end } = span;
  // A range is at least a millisecond, and a word can be shorter.
  const last = end.seconds > start.seconds ? end : momentAt(start.seconds + 0.002);
  return { kind: "CHECKED", startTime: start.text, endTime: last.text };
}
