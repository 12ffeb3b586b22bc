import type { FieldViolation } from "./service-error.ts";
import type { PageScope, PageTokens } from "./page-token.ts";

/**
 * The position at which a page begins, in a list ordered by a key and then by id. The key is text,
 * and a time is exact to the microsecond.
 */
export type ListPosition = readonly [key: string, id: string];

/** A checked request for a page of a list. */
export interface PageRequest {
  /** The position after which the page begins; undefined for the first page. */
  readonly after: ListPosition | undefined;
  readonly size: number;
}

/** The default and the maximum size of a page (docs/api.md, Transcripts: List). */
const pageSizeDefault = 50;
const pageSizeMax = 1000;

/**
 * Reads pageSize and pageToken from a list request. Returns the violations if they are invalid.
 */
export function readPageRequest(
  tokens: PageTokens,
  scope: PageScope,
  { pageSize, pageToken }: { readonly pageSize: number; readonly pageToken: string },
): PageRequest | FieldViolation[] {
  const violations: FieldViolation[] = [];
  if (pageSize < 0) {
    violations.push({ field: "pageSize", description: `must be 0 or more, not ${pageSize}` });
  }
  const after = pageToken === "" ? undefined : positionOf(tokens.read(scope, pageToken));
  if (pageToken !== "" && !after) {
    const bound = scope.ordering === undefined ? "this filter" : "this filter and ordering";
    const description = `is not a nextPageToken of this list with ${bound}`;
    violations.push({ field: "pageToken", description });
  }
  if (violations.length > 0) return violations;
  return { after, size: pageSize === 0 ? pageSizeDefault : Math.min(pageSize, pageSizeMax) };
}

function positionOf(texts: readonly string[] | undefined): ListPosition | undefined {
  const [key, id] = texts ?? [];
  return key !== undefined && id !== undefined ? [key, id] : undefined;
}
