import { queryOptions } from "@tanstack/react-query";
import type {
  ListTranscriptsResponseJson,
  TranscriptJson,
} from "../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { callApi } from "../api/call-api.ts";
import { secondsOf } from "../text/numbers.ts";
import type { Reading } from "./reading.ts";

/** What a row of the list shows: a tenth of what the service tells, so that many can be kept. */
export interface TranscriptRow {
  readonly id: string;
  readonly subject: string;
  readonly keywords: readonly string[];
  readonly languageCode: string;
  /** undefined without media. */
  readonly seconds: number | undefined;
  readonly voices: number;
  /** When its current version was made. */
  readonly versionTime: string;
  readonly isChanged: boolean;
}

export interface TranscriptRows {
  readonly rows: readonly TranscriptRow[];
  /** The token of the page behind; undefined on the last one. */
  readonly next: string | undefined;
}

const pageSize = 100;
/** How long a page that is out of sight is kept. */
const outOfSightMs = 30_000;

/** A page of a list. What has come stays as it is: rows must not move under the reader. */
export function pageQuery({ id, filter }: Reading, page: number, token: string) {
  return queryOptions({
    queryKey: ["transcripts", "list", id, page],
    queryFn: ({ signal }) => readPage(filter, token, signal),
    staleTime: Infinity,
    gcTime: outOfSightMs,
  });
}

async function readPage(
  filter: string,
  pageToken: string,
  signal: AbortSignal,
): Promise<TranscriptRows> {
  const parts = new URLSearchParams({ pageSize: `${pageSize}` });
  if (filter !== "") parts.set("filter", filter);
  if (pageToken !== "") parts.set("pageToken", pageToken);
  const answer = await callApi<ListTranscriptsResponseJson>(
    `/v1alpha1/transcripts?${parts.toString()}`,
    { signal },
  );
  const { transcripts = [], nextPageToken = "" } = answer;
  return {
    rows: transcripts.map(rowOf),
    next: nextPageToken === "" ? undefined : nextPageToken,
  };
}

/** A transcript of a list as its row. */
export function rowOf({ name = "", metadata, version }: TranscriptJson): TranscriptRow {
  const { recordingDuration } = metadata ?? {};
  return {
    id: name.slice("transcripts/".length),
    subject: metadata?.subject ?? "",
    keywords: metadata?.keywords ?? [],
    languageCode: metadata?.languageCode ?? "",
    seconds: recordingDuration ? secondsOf(recordingDuration) : undefined,
    voices: Object.keys(metadata?.speakers ?? {}).length,
    versionTime: version?.creationTime ?? "",
    isChanged: (version?.parent ?? "") !== "",
  };
}
