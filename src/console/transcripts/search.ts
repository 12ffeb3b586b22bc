import { metadataLimits } from "../api/metadata-limits.ts";

/** A search of the list: by a part of the title, or by keywords that must all match. */
export interface Search {
  readonly subject: string;
  readonly keywords: readonly string[];
  readonly filters: Filters;
  readonly sort: Sort;
}

/** What else the transcripts of a list have in common. "" is for all. */
export interface Filters {
  readonly language: string;
  readonly speaker: string;
  /** The first and the last day of change, as YYYY-MM-DD in the time zone of the browser. */
  readonly from: string;
  readonly to: string;
  /** The bounds of the duration in minutes; `shorter` is not included. */
  readonly longer: string;
  readonly shorter: string;
}

const filterNames = ["language", "speaker", "from", "to", "longer", "shorter"] as const;

export const noFilters: Filters = {
  language: "",
  speaker: "",
  from: "",
  to: "",
  longer: "",
  shorter: "",
};

/** The orders of the list; the first one is the default. */
export const sorts = ["changed", "oldest", "title", "longest", "shortest"] as const;
export type Sort = (typeof sorts)[number];

/** The maximum number of clauses of the service's filter (docs/api.md): keywords and filters. */
const clausesMax = 10;

export const everything: Search = {
  subject: "",
  keywords: [],
  filters: noFilters,
  sort: "changed",
};

/** Whether any filter of the panel is set. */
export function hasFilters(filters: Filters): boolean {
  return filterNames.some((name) => filters[name] !== "");
}

/** The search in the query of an address: ?subject=... or ?keyword=...&keyword=..., and filters. */
export function readSearch(query: string): Search {
  const parts = new URLSearchParams(query);
  const textOf = (name: string) => clean(parts.get(name) ?? "");
  const keywords = new Set(
    parts
      .getAll("keyword")
      .map(clean)
      .filter((text) => text !== ""),
  );
  const filters = {
    language: /^[A-Za-z\d-]{1,35}$/.test(textOf("language")) ? textOf("language") : "",
    speaker: textOf("speaker"),
    from: dayIn(textOf("from")),
    to: dayIn(textOf("to")),
    longer: minutesIn(textOf("longer")),
    shorter: minutesIn(textOf("shorter")),
  };
  const sort = sorts.find((each) => each === parts.get("sort")) ?? "changed";
  if (keywords.size > 0) {
    const others = filterNames.filter((name) => filters[name] !== "").length;
    return { subject: "", keywords: [...keywords].slice(0, clausesMax - others), filters, sort };
  }
  return { subject: textOf("subject"), keywords: [], filters, sort };
}

function dayIn(text: string): string {
  return /^\d{4}-\d\d-\d\d$/.test(text) && startOfDay(text) !== undefined ? text : "";
}

function minutesIn(text: string): string {
  return /^\d{1,4}$/.test(text) ? text : "";
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
export function searchQuery({ subject, keywords, filters, sort }: Search): string {
  const parts = new URLSearchParams(keywords.map((keyword) => ["keyword", keyword]));
  const text = clean(subject);
  if (keywords.length === 0 && text !== "") parts.set("subject", text);
  for (const name of filterNames) if (filters[name] !== "") parts.set(name, filters[name]);
  if (sort !== "changed") parts.set("sort", sort);
  return parts.size === 0 ? "" : `?${parts.toString()}`;
}

/** The filter for ListTranscripts; "" if there is no search. */
export function filterOf({ subject, keywords, filters }: Search): string {
  const { language, speaker, from, to, longer, shorter } = filters;
  const text = clean(subject);
  const [start, end] = [startOfDay(from), startOfDay(to, 1)];
  const clauses = [
    ...keywords.map((keyword) => `metadata.keywords CONTAINS [${quoted(keyword)}]`),
    keywords.length === 0 && text !== "" && `metadata.subject CONTAINS ${quoted(text)}`,
    language !== "" && `metadata.language_code = ${quoted(language)}`,
    speaker !== "" && `metadata.speakers CONTAINS [${quoted(speaker)}]`,
    start && `version.creation_time >= "${start}"`,
    end && `version.creation_time < "${end}"`,
    longer !== "" && `metadata.recording_duration >= "${Number(longer) * 60}s"`,
    shorter !== "" && `metadata.recording_duration < "${Number(shorter) * 60}s"`,
  ];
  return clauses.filter((clause) => typeof clause === "string").join(" AND ");
}

/** The parameters of the order for ListTranscripts. */
export function orderingOf(sort: Sort): Readonly<Record<string, string>> {
  const by = (orderBy: string, direction: string) => ({
    "ordering.orderBy": orderBy,
    "ordering.direction": direction,
  });
  if (sort === "oldest") return by("version.creation_time", "ASCENDING");
  if (sort === "title") return by("subject", "ASCENDING");
  if (sort === "longest") return by("metadata.recording_duration", "DESCENDING");
  if (sort === "shortest") return by("metadata.recording_duration", "ASCENDING");
  return {};
}

/** The time at which a day begins in the browser's time zone, or the day after it. */
function startOfDay(day: string, daysLater = 0): string | undefined {
  const [year = NaN, month = NaN, date = NaN] = day.split("-").map(Number);
  const time = new Date(year, month - 1, date + daysLater);
  return Number.isNaN(time.getTime()) ? undefined : time.toISOString();
}

/** \" and \\ are the only escape sequences in the filter's grammar. */
function quoted(text: string): string {
  return `"${text.replaceAll(/["\\]/g, String.raw`\$&`)}"`;
}
