import { queryOptions } from "@tanstack/react-query";
import type {
  ListTranscriptsResponseJson,
  TranscriptJson,
} from "../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { callApi } from "../api/call-api.ts";
import { secondsOf } from "../text/numbers.ts";
import type { ListPages } from "./list-pages.ts";

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
export function pageQuery({ id, filter }: ListPages, page: number, token: string) {
  return queryOptions({
    queryKey: ["transcripts", "list", id, page],
    queryFn: ({ signal }) => readPage(filter, token, signal),
    staleTime: Infinity,
    gcTime: unusedMs,
  });
}

async function readPage(
  filter: string,
  pageToken: string,
  signal: AbortSignal,
): Promise<SummaryPage> {
  const parts = new URLSearchParams({ pageSize: `${pageSize}` });
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
    versionTime: version?.creationTime ?? "",
    isChanged: (version?.parent ?? "") !== "",
  };
}
