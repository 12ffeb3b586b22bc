import { foldText } from "../std/fold-text.ts";
import type { Clause, Filter } from "./filter.ts";

/** What filters compare: the folded subject and the keywords. */
export interface Filterable {
  readonly subject: string;
  readonly keywords: readonly string[];
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
  if (clause.by === "state") throw new Error("the filter of a watch has no state");
  if (clause.by === "keywords") {
    return ({ keywords }) => clause.keywords.some((keyword) => keywords.includes(keyword));
  }
  const text = foldText(clause.text);
  return ({ subject }) => subject.includes(text);
}
