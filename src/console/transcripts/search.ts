import { metadataLimits } from "../api/metadata-limits.ts";

/** A search of the list: by a part of the title, or by keywords that must all match. */
export interface Search {
  readonly subject: string;
  readonly keywords: readonly string[];
}

/** The maximum number of keywords: each is a clause of the service's filter (docs/api.md). */
const keywordsMax = 10;

export const everything: Search = { subject: "", keywords: [] };

/** The search in the query of an address: ?subject=... or ?keyword=...&keyword=... */
export function readSearch(query: string): Search {
  const parts = new URLSearchParams(query);
  const keywords = new Set(
    parts
      .getAll("keyword")
      .map(clean)
      .filter((text) => text !== ""),
  );
  if (keywords.size > 0) return { subject: "", keywords: [...keywords].slice(0, keywordsMax) };
  return { subject: clean(parts.get("subject") ?? ""), keywords: [] };
}

/**
 * Removes characters that titles cannot contain and filters do not allow, because anyone can create
 * an address.
 */
function clean(text: string): string {
  return Array.from(text.replaceAll("\0", "").toWellFormed().trim())
    .slice(0, metadataLimits.subjectChars)
    .join("");
}

/** The query that readSearch() reads; "" if there is no search. */
export function searchQuery({ subject, keywords }: Search): string {
  const parts = new URLSearchParams(keywords.map((keyword) => ["keyword", keyword]));
  const text = clean(subject);
  if (keywords.length === 0 && text !== "") parts.set("subject", text);
  return parts.size === 0 ? "" : `?${parts.toString()}`;
}

/** The filter for ListTranscripts; "" if there is no search. */
export function filterOf({ subject, keywords }: Search): string {
  if (keywords.length > 0) {
    const clauses = keywords.map((keyword) => `metadata.keywords CONTAINS [${quoted(keyword)}]`);
    return clauses.join(" AND ");
  }
  const text = clean(subject);
  return text === "" ? "" : `metadata.subject CONTAINS ${quoted(text)}`;
}

/** \" and \\ are the only escape sequences in the filter's grammar. */
function quoted(text: string): string {
  return `"${text.replaceAll(/["\\]/g, String.raw`\$&`)}"`;
}
