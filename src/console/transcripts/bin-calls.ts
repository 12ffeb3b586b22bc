import { queryOptions } from "@tanstack/react-query";
import type {
  BinTranscriptsResponseJson,
  DeleteBinnedTranscriptsResponseJson,
  ListBinnedTranscriptsResponseJson,
  RestoreBinnedTranscriptsResponseJson,
} from "../../gen/hlust/transcripts/v1alpha1/bin_pb.ts";
import { callApi } from "../api/call-api.ts";
import { noteDeleted, noteRestored } from "../api/deleted-transcripts.ts";

/** The number of days that transcripts stay in the bin; 0: there is no bin. */
export const binDaysQuery = queryOptions({
  queryKey: ["bin", "days"],
  queryFn: async ({ signal }) => (await listBin("", 1, signal)).binDays ?? 0,
  staleTime: 60_000,
});

export async function listBin(
  pageToken: string,
  pageSize: number,
  signal: AbortSignal,
): Promise<ListBinnedTranscriptsResponseJson> {
  const parts = new URLSearchParams({ pageSize: `${pageSize}` });
  if (pageToken !== "") parts.set("pageToken", pageToken);
  return await callApi(`/v1alpha1/binnedtranscripts?${parts.toString()}`, { signal });
}

/** Puts at most 100 transcripts into the bin. Those that do not exist any more are `missing`. */
export async function putIntoBin(names: readonly string[]): Promise<BinTranscriptsResponseJson> {
  const body = { names };
  const answer = await callApi<BinTranscriptsResponseJson>("/v1alpha1/transcripts:bin", {
    method: "POST",
    body,
  });
  noteDeleted(names);
  return answer;
}

export async function restoreFromBin(
  names: readonly string[],
): Promise<RestoreBinnedTranscriptsResponseJson> {
  const body = { names };
  noteRestored(names);
  return await callApi("/v1alpha1/binnedtranscripts:restore", { method: "POST", body });
}

export async function deleteFromBin(
  names: readonly string[],
): Promise<DeleteBinnedTranscriptsResponseJson> {
  const body = { names };
  return await callApi("/v1alpha1/binnedtranscripts:delete", { method: "POST", body });
}
