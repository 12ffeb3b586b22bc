/**
 * What the list is searched for: a part of the title, or keywords, all of them. The service's
 * filter takes one of the two (section 4.3).
 */
export interface Search {
  readonly subject: string;
  readonly keywords: readonly string[];
}

export const everything: Search = { subject: "", keywords: [] };

/** Titles are no longer than this (section 2.2); quoted, the filter still fits. */
export const subjectCharsMax = 1000;

/** The search that the query of an address tells: ?subject=... or ?keyword=...&keyword=... */
export function readSearch(query: string): Search {
  const parts = new URLSearchParams(query);
  const keywords = new Set(
    parts
      .getAll("keyword")
      .map(clean)
      .filter((text) => text !== ""),
  );
  if (keywords.size > 0) return { subject: "", keywords: [...keywords] };
  return { subject: clean(parts.get("subject") ?? ""), keywords: [] };
}

/** Addresses come from anywhere: what no title has, and no filter takes, is left out. */
function clean(text: string): string {
  return Array.from(text.replaceAll("\0", "").toWellFormed().trim())
    .slice(0, subjectCharsMax)
    .join("");
}

/** As readSearch() reads it; "" for everything. */
export function searchQuery({ subject, keywords }: Search): string {
  const parts = new URLSearchParams(keywords.map((keyword) => ["keyword", keyword]));
  const text = clean(subject);
  if (keywords.length === 0 && text !== "") parts.set("subject", text);
  return parts.size === 0 ? "" : `?${parts.toString()}`;
}

/** The filter of ListTranscripts; "" for everything. */
export function filterOf({ subject, keywords }: Search): string {
  if (keywords.length > 0) {
    return `metadata.keywords CONTAINS [${keywords.map(quoted).join(", ")}]`;
  }
  const text = clean(subject);
  return text === "" ? "" : `metadata.subject CONTAINS ${quoted(text)}`;
}

/** \" and \\ are the only escapes of the filter's grammar. */
function quoted(text: string): string {
  return `"${text.replaceAll(/["\\]/g, String.raw`\$&`)}"`;
}
