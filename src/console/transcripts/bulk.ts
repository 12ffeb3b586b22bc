import type {
  ListTranscriptsResponseJson,
  TranscriptJson,
} from "../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { ApiError } from "../api/api-error.ts";
import { callApi } from "../api/call-api.ts";
import { readWritten, writtenFields } from "../jobs/written-fields.ts";
import { submitJob } from "../upload/submit-job.ts";
import { putIntoBin, restoreFromBin } from "./bin-calls.ts";
import type { Selected } from "./use-selection.ts";

/** What an action has done with each transcript. */
export interface BulkResult {
  readonly done: readonly Selected[];
  readonly failed: readonly { readonly row: Selected; readonly error: unknown }[];
  /** Those that were not tried, because the user stopped. */
  readonly left: readonly Selected[];
}

/** How an action goes on: the signal stops it, and `onProgress` gets the number that was tried. */
export interface BulkRun {
  readonly signal: AbortSignal;
  readonly onProgress: (tried: number) => void;
}

/** The number of transcripts that one call of the bin takes. */
const namesMax = 100;
/** The number of transcripts that are changed at the same time. */
const concurrent = 3;
/** The maximum number of transcripts that are selected at once. */
export const selectedMax = 10_000;

const nameOf = ({ id }: Selected): string => `transcripts/${id}`;

/** Puts transcripts into the bin. Those that are gone already count as done. */
export async function binAll(rows: readonly Selected[], run: BulkRun) {
  let isInBin = false;
  const result = await inChunks(rows, run, async (names) => {
    const { deleteTime = null } = await putIntoBin(names);
    isInBin ||= deleteTime !== null;
    return names;
  });
  return { ...result, isInBin };
}

/** Takes transcripts out of the bin. Those that are not there any more have failed. */
export async function restoreAll(rows: readonly Selected[], run: BulkRun): Promise<BulkResult> {
  return await inChunks(rows, run, async (names) => (await restoreFromBin(names)).names ?? []);
}

async function inChunks(
  rows: readonly Selected[],
  { signal, onProgress }: BulkRun,
  act: (names: readonly string[]) => Promise<readonly string[]>,
): Promise<BulkResult> {
  const done: Selected[] = [];
  const failed: { row: Selected; error: unknown }[] = [];
  let at = 0;
  for (; at < rows.length && !signal.aborted; at += namesMax) {
    const chunk = rows.slice(at, at + namesMax);
    try {
      const changed = new Set(await act(chunk.map(nameOf)));
      for (const row of chunk) {
        if (changed.has(nameOf(row))) done.push(row);
        else failed.push({ row, error: undefined });
      }
    } catch (error) {
      failed.push(...chunk.map((row) => ({ row, error })));
    }
    onProgress(Math.min(at + namesMax, rows.length));
  }
  return { done, failed, left: rows.slice(at) };
}

/** Adds a keyword to transcripts, on top of what others have changed. */
export async function addKeyword(rows: readonly Selected[], keyword: string, run: BulkRun) {
  return await oneByOne(rows, run, async (row) => await addOne(nameOf(row), keyword));
}

async function addOne(name: string, keyword: string): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    const { metadata, version } = await callApi<TranscriptJson>(`/v1alpha1/${name}`);
    const { keywords = [] } = metadata ?? {};
    if (keywords.includes(keyword)) return;
    try {
      await callApi<object>(`/v1alpha1/${name}?updateMask=metadata.keywords`, {
        method: "PATCH",
        body: { metadata: { keywords: [...keywords, keyword] } },
        headers: { "if-match": version?.name ?? "" },
      });
      return;
    } catch (error) {
      const isStale = error instanceof ApiError && error.reason === "VERSION_STALE";
      if (!isStale || attempt === 3) throw error;
    }
  }
}

/** Submits the recordings of transcripts again, in their languages. */
export async function transcribeAll(rows: readonly Selected[], run: BulkRun) {
  return await oneByOne(rows, run, async (row) => {
    const { languageCode } = row;
    const metadata = { languageCode };
    const request = { transcript: nameOf(row), metadata, ...writtenFields(readWritten()) };
    await submitJob(request, { key: crypto.randomUUID() });
  });
}

/** Runs an action for each transcript, a few at a time. */
export async function oneByOne(
  rows: readonly Selected[],
  { signal, onProgress }: BulkRun,
  act: (row: Selected) => Promise<void>,
): Promise<BulkResult> {
  const done: Selected[] = [];
  const failed: { row: Selected; error: unknown }[] = [];
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < rows.length && !signal.aborted) {
      const row = rows[next];
      next += 1;
      if (!row) return;
      try {
        await act(row);
        done.push(row);
      } catch (error) {
        failed.push({ row, error });
      }
      onProgress(done.length + failed.length);
    }
  };
  await Promise.all(Array.from({ length: concurrent }, work));
  return { done, failed, left: rows.slice(next) };
}

/** Reads all transcripts of a filter, up to `selectedMax`. */
export async function readAll(
  filter: string,
  signal: AbortSignal,
): Promise<{ readonly rows: readonly Selected[]; readonly isMore: boolean }> {
  const rows: Selected[] = [];
  let pageToken = "";
  do {
    const parts = new URLSearchParams({ pageSize: "1000" });
    if (filter !== "") parts.set("filter", filter);
    if (pageToken !== "") parts.set("pageToken", pageToken);
    const answer = await callApi<ListTranscriptsResponseJson>(
      `/v1alpha1/transcripts?${parts.toString()}`,
      { signal },
    );
    for (const { name = "", metadata } of answer.transcripts ?? []) {
      const { subject = "", languageCode = "" } = metadata ?? {};
      rows.push({ id: name.slice("transcripts/".length), subject, languageCode });
    }
    pageToken = answer.nextPageToken ?? "";
  } while (pageToken !== "" && rows.length < selectedMax);
  return {
    rows: rows.slice(0, selectedMax),
    isMore: pageToken !== "" || rows.length > selectedMax,
  };
}
