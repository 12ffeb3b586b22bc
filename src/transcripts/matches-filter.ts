import { foldText } from "../std/fold-text.ts";
import type { TranscriptFilter } from "./filter.ts";

/** What filters compare: the subject, folded, and the keywords. */
export interface Filterable {
  readonly subject: string;
  readonly keywords: readonly string[];
}

/**
 * Returns whether a transcript or job matches a filter; the same as the condition in SQL
 * (find-transcripts.ts), for a watch, in which one change is compared with many filters.
 */
export function matchesFilter(
  filter: TranscriptFilter,
  { subject, keywords }: Filterable,
): boolean {
  if (filter.by === "subject") return subject.includes(foldText(filter.text));
  return filter.keywords.every((keyword) => keywords.includes(keyword));
}
