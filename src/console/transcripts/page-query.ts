import { queryOptions } from "@tanstack/react-query";
import type {
  ListTranscriptsResponseJson,
  TranscriptJson,
} from "../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import type { ListFirstWordsResponseJson } from "../../gen/hlust/transcripts/v1alpha1/several_pb.ts";
import { callApi } from "../api/call-api.ts";
import { secondsOf } from "../text/numbers.ts";
import type { ListPages } from "./list-pages.ts";
import { orderingOf } from "./search.ts";

/**
 * The data that a row of the list shows: a tenth of the service's response, so that many rows can
 * be kept.
 */
export interface TranscriptSummary {
  readonly id: string;
  readonly subject: string;
  readonly keywords: readonly string[];
  readonly languageCode: string;
  /** The duration of the recording; undefined if there is none. */
  readonly seconds: number | undefined;
  readonly speakers: number;
  /** The names of the speakers that have one. */
  readonly speakerNames: readonly string[];
  /** The time at which the current version was created. */
  readonly versionTime: string;
  readonly isChanged: boolean;
}

export interface SummaryPage {
  readonly rows: readonly TranscriptSummary[];
  /** The token of the next page; undefined on the last page. */
  readonly next: string | undefined;
}

const pageSize = 100;
/** How long a page that is not visible is kept. */
const unusedMs = 30_000;

/** A page of a list. It is never refetched, because rows must not move while they are read. */
export function pageQuery({ id, filter, sort }: ListPages, page: number, token: string) {
  return queryOptions({
    queryKey: ["transcripts", "list", id, page],
    queryFn: ({ signal }) => readPage({ filter, sort }, token, signal),
    staleTime: Infinity,
    gcTime: unusedMs,
  });
}

/** The first words of a page's transcripts, by id. They are read after the rows are shown. */
export function firstWordsQuery(
  listId: number,
  page: number,
  rows: readonly TranscriptSummary[] | undefined,
) {
  return queryOptions({
    queryKey: ["transcripts", "words", listId, page, rows?.length],
    queryFn: ({ signal }) => readFirstWords(rows ?? [], signal),
    enabled: rows !== undefined && rows.length > 0,
    staleTime: Infinity,
    gcTime: unusedMs,
    // The list is useful without them.
    retry: false,
  });
}

async function readFirstWords(
  rows: readonly TranscriptSummary[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  const parts = new URLSearchParams(rows.map(({ id }) => ["names", `transcripts/${id}`]));
  const { firstWords = [] } = await callApi<ListFirstWordsResponseJson>(
    `/v1alpha1/transcripts:firstWords?${parts.toString()}`,
    { signal },
  );
  return new Map(
    firstWords.map(({ name = "", text = "" }) => [name.slice("transcripts/".length), text]),
  );
}

async function readPage(
  { filter, sort }: Pick<ListPages, "filter" | "sort">,
  pageToken: string,
  signal: AbortSignal,
): Promise<SummaryPage> {
  const parts = new URLSearchParams({ pageSize: `${pageSize}`, ...orderingOf(sort) });
  if (filter !== "") parts.set("filter", filter);
  if (pageToken !== "") parts.set("pageToken", pageToken);
  const answer = await callApi<ListTranscriptsResponseJson>(
    `/v1alpha1/transcripts?${parts.toString()}`,
    { signal },
  );
  const { transcripts = [], nextPageToken = "" } = answer;
  return {
    rows: transcripts.map(summaryOf),
    next: nextPageToken === "" ? undefined : nextPageToken,
  };
}

export function summaryOf({ name = "", metadata, version }: TranscriptJson): TranscriptSummary {
  const { recordingDuration } = metadata ?? {};
  return {
    id: name.slice("transcripts/".length),
    subject: metadata?.subject ?? "",
    keywords: metadata?.keywords ?? [],
    languageCode: metadata?.languageCode ?? "",
    seconds: recordingDuration ? secondsOf(recordingDuration) : undefined,
    speakers: Object.keys(metadata?.speakers ?? {}).length,
    speakerNames: Object.values(metadata?.speakers ?? {}).flatMap(({ fullName = "" }) =>
      fullName.trim() === "" ? [] : [fullName.trim()],
    ),
    versionTime: version?.creationTime ?? "",
    isChanged: (version?.parent ?? "") !== "",
  };
}
