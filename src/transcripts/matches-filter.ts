import { foldText } from "../std/fold-text.ts";
import type { Clause, Comparison, Filter } from "./filter.ts";

/** What filters compare: the folded subject and the keywords. */
export interface Filterable {
  readonly subject: string;
  readonly keywords: readonly string[];
  /** What only transcripts have. */
  readonly transcript?: {
    readonly language: string;
    readonly speakers: readonly string[];
    /** The duration of the recording; null if it is unknown. */
    readonly durationMs: number | null;
    readonly changedAt: Date;
  };
}

/**
 * Returns the comparison of a filter with a transcript or job: the same as the condition in SQL
 * (find-rows.ts). A watch compares one change with many filters.
 */
export function matcherOf(filter: Filter): (item: Filterable) => boolean {
  const clauses = filter.map(matcherOfClause);
  return (item) => clauses.every((matches) => matches(item));
}

function matcherOfClause(clause: Clause): (item: Filterable) => boolean {
  switch (clause.by) {
    case "state":
      throw new Error("the filter of a watch has no state");
    case "keywords":
      return ({ keywords }) => clause.keywords.some((keyword) => keywords.includes(keyword));
    case "subject": {
      const text = foldText(clause.text);
      return ({ subject }) => subject.includes(text);
    }
    case "language": {
      const language = clause.language.toLowerCase();
      return ({ transcript }) => transcript?.language.toLowerCase() === language;
    }
    case "speakers":
      return ({ transcript }) =>
        clause.names.some((name) => transcript?.speakers.includes(name) === true);
    case "duration":
      return ({ transcript }) => holds(transcript?.durationMs ?? undefined, clause.is, clause.ms);
    case "time": {
      const time = clause.time.getTime();
      return ({ transcript }) => holds(transcript?.changedAt.getTime(), clause.is, time);
    }
    default:
      return clause satisfies never;
  }
}

function holds(value: number | undefined, is: Comparison, other: number): boolean {
  if (value === undefined) return false;
  return is === "<" ? value < other : value >= other;
}
