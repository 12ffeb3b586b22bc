import {
  infiniteQueryOptions,
  type InfiniteData,
  useInfiniteQuery,
  useQueryClient,
} from "@tanstack/react-query";
import { useCallback, useEffect, useMemo, useRef, useState, useSyncExternalStore } from "react";
import { watchJobs } from "../api/account-stream.ts";
import { identityOf } from "../api/session.ts";
import { useSession } from "../api/use-session.ts";
import { jobOf, listJobs, type Job, type JobListPage } from "./job.ts";
import { withChanges, withFirstPage, withNewJob, withoutJobs, withUpdates } from "./merge-jobs.ts";
import { VisibleRows } from "./visible-rows.ts";

/** The jobs that have changed while the page has been watching them. */
const changed = new Map<string, Job>();

/** The list of jobs, newest first, page by page. */
const jobsQuery = infiniteQueryOptions({
  queryKey: ["jobs"],
  queryFn: async ({ pageParam, signal }) => {
    const page = await listJobs(pageParam, signal);
    // A change may have arrived while an older state was on its way.
    return withUpdates([page], [...changed.values()])[0] ?? page;
  },
  initialPageParam: "",
  getNextPageParam: ({ nextToken }) => (nextToken === "" ? undefined : nextToken),
});

type JobsData = InfiniteData<JobListPage, string>;

/** How often pages with running jobs that are not watched are read again. */
const pollMs = 5_000;
/** Every fourth poll reads the first page, to find new jobs. */
const pollsPerFirstPage = 4;

/**
 * Returns the list of jobs and keeps it up to date: all of the account are watched, and while they
 * cannot be, running jobs on the screen are polled. `onEnd` is called when a job that was running
 * has ended.
 */
export function useJobs(onEnd: (job: Job) => void) {
  const query = useInfiniteQuery(jobsQuery);
  const { update, mergeChanges, mergeFirst, addNew, drop } = useUpdates(onEnd);
  const pages = query.data?.pages;
  const jobs = useMemo(() => pages?.flatMap((page) => page.jobs), [pages]);
  const [visible, setVisible] = useState<ReadonlySet<string>>(() => new Set());
  const [visibleRows] = useState(() => new VisibleRows(setVisible));
  const isLive = useWatch(mergeChanges);
  usePolls({
    pages,
    isLive,
    isNeeded: (page) =>
      page.jobs.some(({ name, state }) => state.kind === "PROCESSING" && visible.has(name)),
    update,
    mergeFirst,
  });
  return { ...query, jobs, visibleRows, update, addNew, drop };
}

/** Watches the jobs while the page is visible. Returns whether changes arrive. */
function useWatch(mergeChanges: (jobs: readonly Job[]) => void): boolean {
  const queries = useQueryClient();
  const owner = identityOf(useSession());
  const isVisible = useSyncExternalStore(subscribeToVisibility, () => !document.hidden);
  const [isLive, setIsLive] = useState(false);
  useEffect(() => {
    if (!isVisible) return undefined;
    const stop = watchJobs(owner, {
      onJobs(changes) {
        const jobs = changes.map(jobOf);
        for (const job of jobs) changed.set(job.name, job);
        mergeChanges(jobs);
      },
      onLive(isLive) {
        setIsLive(isLive);
        // What has changed before the watch began is not sent.
        if (isLive) void queries.invalidateQueries({ queryKey: jobsQuery.queryKey, exact: true });
      },
    });
    return () => {
      stop();
      changed.clear();
      setIsLive(false);
    };
  }, [owner, isVisible, mergeChanges, queries]);
  return isLive;
}

function subscribeToVisibility(listener: () => void): () => void {
  document.addEventListener("visibilitychange", listener);
  return () => document.removeEventListener("visibilitychange", listener);
}

/**
 * Returns functions that merge updates into the list. `onEnd` is called once for each job that
 * ends.
 */
function useUpdates(onEnd: (job: Job) => void) {
  const queries = useQueryClient();
  const latestOnEnd = useRef(onEnd);
  useEffect(() => {
    latestOnEnd.current = onEnd;
  });
  const change = useCallback(
    (merge: (pages: readonly JobListPage[]) => readonly JobListPage[] | undefined): void => {
      const before = queries.getQueryData<JobsData>(jobsQuery.queryKey);
      if (!before) return;
      const pages = merge(before.pages);
      if (!pages) {
        void queries.invalidateQueries({ queryKey: jobsQuery.queryKey });
        return;
      }
      queries.setQueryData<JobsData>(jobsQuery.queryKey, { ...before, pages: [...pages] });
      for (const job of endedSince(before.pages, pages)) latestOnEnd.current(job);
    },
    [queries],
  );
  return useMemo(
    () => ({
      update: (job: Job): void => change((pages) => withUpdates(pages, [job])),
      /** Merges jobs that are new or have changed. */
      mergeChanges: (jobs: readonly Job[]): void => change((pages) => withChanges(pages, jobs)),
      /** Adds a job that was submitted here at the top of the list. */
      addNew: (job: Job): void => change((pages) => withNewJob(pages, job)),
      /** Removes jobs from the list that were removed from the service. */
      drop: (names: ReadonlySet<string>): void => {
        for (const name of names) changed.delete(name);
        change((pages) => withoutJobs(pages, names));
      },
      mergeFirst: (first: JobListPage): void => change((pages) => withFirstPage(pages, first)),
    }),
    [change],
  );
}

function endedSince(before: readonly JobListPage[], now: readonly JobListPage[]): Job[] {
  const running = new Set(
    before
      .flatMap((page) => page.jobs)
      .filter(({ state }) => state.kind === "PROCESSING")
      .map(({ name }) => name),
  );
  const jobs = now.flatMap((page) => page.jobs);
  return jobs.filter(({ name, state }) => state.kind !== "PROCESSING" && running.has(name));
}

/**
 * Polls pages of the list while the console page is visible. Errors are ignored: the frame shows a
 * lost connection.
 */
function usePolls(options: {
  readonly pages: readonly JobListPage[] | undefined;
  /** Whether all changes arrive without polls. */
  readonly isLive: boolean;
  readonly isNeeded: (page: JobListPage) => boolean;
  readonly update: (job: Job) => void;
  readonly mergeFirst: (first: JobListPage) => void;
}): void {
  const latest = useRef(options);
  useEffect(() => {
    latest.current = options;
  });
  useEffect(() => {
    const stop = new AbortController();
    let polls = 0;
    const poll = async (): Promise<void> => {
      const { pages = [], isLive, isNeeded, update, mergeFirst } = latest.current;
      if (document.hidden || isLive) return;
      polls += 1;
      try {
        for (const [index, page] of pages.entries()) {
          const isDue = index === 0 && polls % pollsPerFirstPage === 0;
          if (!isDue && !isNeeded(page)) continue;
          const fresh = await listJobs(pages[index - 1]?.nextToken ?? "", stop.signal);
          if (index === 0) mergeFirst(fresh);
          else for (const job of fresh.jobs) update(job);
        }
      } catch {
        // The next poll follows soon.
      }
    };
    const timer = setInterval(() => void poll(), pollMs);
    return () => {
      stop.abort();
      clearInterval(timer);
    };
  }, []);
}
