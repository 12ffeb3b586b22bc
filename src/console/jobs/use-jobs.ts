import {
  infiniteQueryOptions,
  type InfiniteData,
  useInfiniteQuery,
  useQueryClient,
} from "@tanstack/react-query";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { InSight } from "./in-sight.ts";
import { listJobs, type Job, type JobsPart } from "./job.ts";
import { withFirstPart, withJobs, withNewJob } from "./merge-jobs.ts";
import { useWatches } from "./use-watches.ts";

/** The list of jobs, newest first, page by page. */
export const jobsQuery = infiniteQueryOptions({
  queryKey: ["jobs"],
  queryFn: ({ pageParam, signal }) => listJobs(pageParam, signal),
  initialPageParam: "",
  getNextPageParam: ({ nextToken }) => (nextToken === "" ? undefined : nextToken),
});

type JobsData = InfiniteData<JobsPart, string>;

/**
 * How often the pages of running jobs that are not watched are asked for; and, of that, the first
 * page for jobs that are new.
 */
const pollMs = 5_000;
const pollsToNew = 4;

/**
 * The list with all that is heard of it: jobs in sight are watched, others asked for. `onEnd`: a
 * job that was running has ended.
 */
export function useJobs(onEnd: (job: Job) => void) {
  const query = useInfiniteQuery(jobsQuery);
  const { hear, hearFirst, hearNew } = useHearing(onEnd);
  const parts = query.data?.pages;
  const jobs = useMemo(() => parts?.flatMap((part) => part.jobs), [parts]);
  const [seen, setSeen] = useState<ReadonlySet<string>>(() => new Set());
  const [inSight] = useState(() => new InSight(setSeen));
  const running = (jobs ?? []).filter(({ state }) => state.kind === "PROCESSING");
  const runningSeen = running.filter(({ name }) => seen.has(name)).map(({ name }) => name);
  const watched = useWatches(runningSeen, hear);
  usePolls({
    parts,
    isNeeded: (part) =>
      part.jobs.some(
        ({ name, state }) => state.kind === "PROCESSING" && seen.has(name) && !watched.has(name),
      ),
    hear,
    hearFirst,
  });
  return { ...query, jobs, inSight, hear, hearNew };
}

/** What is heard goes into the list; the end of a job that was seen running is told once. */
function useHearing(onEnd: (job: Job) => void) {
  const queries = useQueryClient();
  const tell = useRef(onEnd);
  useEffect(() => {
    tell.current = onEnd;
  });
  const change = useCallback(
    (merge: (parts: readonly JobsPart[]) => readonly JobsPart[] | undefined): void => {
      const before = queries.getQueryData<JobsData>(jobsQuery.queryKey);
      if (!before) return;
      const parts = merge(before.pages);
      if (!parts) {
        void queries.invalidateQueries({ queryKey: jobsQuery.queryKey });
        return;
      }
      queries.setQueryData<JobsData>(jobsQuery.queryKey, { ...before, pages: [...parts] });
      for (const job of endedSince(before.pages, parts)) tell.current(job);
    },
    [queries],
  );
  return useMemo(
    () => ({
      hear: (job: Job): void => change((parts) => withJobs(parts, [job])),
      /** It was submitted here, and goes on top. */
      hearNew: (job: Job): void => change((parts) => withNewJob(parts, job)),
      hearFirst: (first: JobsPart): void => change((parts) => withFirstPart(parts, first)),
    }),
    [change],
  );
}

function endedSince(before: readonly JobsPart[], now: readonly JobsPart[]): Job[] {
  const were = before.flatMap(({ jobs }) => jobs);
  const running = new Set(
    were.filter(({ state }) => state.kind === "PROCESSING").map(({ name }) => name),
  );
  const jobs = now.flatMap((part) => part.jobs);
  return jobs.filter(({ name, state }) => state.kind !== "PROCESSING" && running.has(name));
}

/**
 * Asks for pages again, while somebody looks at this one; while the service is away the frame says
 * so.
 */
function usePolls(wanted: {
  readonly parts: readonly JobsPart[] | undefined;
  readonly isNeeded: (part: JobsPart) => boolean;
  readonly hear: (job: Job) => void;
  readonly hearFirst: (first: JobsPart) => void;
}): void {
  const latest = useRef(wanted);
  useEffect(() => {
    latest.current = wanted;
  });
  useEffect(() => {
    const stop = new AbortController();
    let polls = 0;
    const poll = async (): Promise<void> => {
      const { parts = [], isNeeded, hear, hearFirst } = latest.current;
      if (document.hidden) return;
      polls += 1;
      try {
        for (const [index, part] of parts.entries()) {
          const isDue = index === 0 && polls % pollsToNew === 0;
          if (!isDue && !isNeeded(part)) continue;
          const fresh = await listJobs(parts[index - 1]?.nextToken ?? "", stop.signal);
          if (index === 0) hearFirst(fresh);
          else for (const job of fresh.jobs) hear(job);
        }
      } catch {
        // The next poll is soon.
      }
    };
    const timer = setInterval(() => void poll(), pollMs);
    return () => {
      stop.abort();
      clearInterval(timer);
    };
  }, []);
}
