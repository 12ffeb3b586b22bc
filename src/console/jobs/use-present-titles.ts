import { queryOptions, useQueries } from "@tanstack/react-query";
import type { ListFirstWordsResponseJson } from "../../gen/hlust/transcripts/v1alpha1/several_pb.ts";
import { callApi } from "../api/call-api.ts";
import type { Job } from "./job.ts";

/** The number of transcripts in a request. */
const namesMax = 50;
/** How often titles are read again while the page is visible. */
const pollMs = 30_000;

/**
 * Returns the present titles of the transcripts of jobs, by the names of the transcripts: null for
 * one that was deleted. A transcript is absent until its title is known.
 */
export function usePresentTitles(jobs: readonly Job[]): ReadonlyMap<string, string | null> {
  // The oldest jobs come first, so that a new job changes only the last request.
  const names = jobs
    .toReversed()
    .flatMap(({ state }) => (state.kind === "SUCCESS" ? [state.transcript] : []));
  const all = [...new Set(names)];
  const parts = Array.from({ length: Math.ceil(all.length / namesMax) }, (_, at) =>
    all.slice(at * namesMax, (at + 1) * namesMax),
  );
  const answers = useQueries({ queries: parts.map(titlesQuery) });
  return new Map(answers.flatMap(({ data }) => [...(data ?? [])]));
}

function titlesQuery(names: readonly string[]) {
  return queryOptions({
    queryKey: ["transcripts", "titles", ...names],
    queryFn: ({ signal }) => readTitles(names, signal),
    refetchInterval: pollMs,
    // The list is useful without them.
    retry: false,
  });
}

async function readTitles(
  names: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string | null>> {
  const query = new URLSearchParams(names.map((name) => ["names", name]));
  const { firstWords = [] } = await callApi<ListFirstWordsResponseJson>(
    `/v1alpha1/transcripts:firstWords?${query.toString()}`,
    { signal },
  );
  const titles = new Map(firstWords.map(({ name = "", subject = "" }) => [name, subject]));
  return new Map(names.map((name) => [name, titles.get(name) ?? null]));
}
