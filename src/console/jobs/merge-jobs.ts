import type { Job, JobListPage } from "./job.ts";

/**
 * Returns the pages with updated jobs. Updates that are older than what a page shows, and updates
 * of jobs that have ended, are ignored.
 */
export function withUpdates(
  pages: readonly JobListPage[],
  updates: readonly Job[],
): readonly JobListPage[] {
  const byName = new Map(updates.map((job) => [job.name, job]));
  return pages.map((page) =>
    page.jobs.some((job) => isNewer(byName.get(job.name), job))
      ? { ...page, jobs: page.jobs.map((job) => newerOf(job, byName.get(job.name))) }
      : page,
  );
}

/**
 * Returns the pages with the jobs of a freshly read first page: known jobs are updated, and new
 * jobs are at the top. Returns undefined if there may be more new jobs than `first` contains.
 */
export function withFirstPage(
  pages: readonly JobListPage[],
  first: JobListPage,
): readonly JobListPage[] | undefined {
  const known = new Set(pages.flatMap(({ jobs }) => jobs.map(({ name }) => name)));
  const added = first.jobs.filter(({ name }) => !known.has(name));
  if (added.length === first.jobs.length && added.length > 0) return undefined;
  const [top, ...rest] = withUpdates(pages, first.jobs);
  if (!top || added.length === 0) return top ? [top, ...rest] : [first];
  return [{ ...top, jobs: [...added, ...top.jobs] }, ...rest];
}

/**
 * Returns the pages with a job that was submitted here at the top, unless the pages already contain
 * the job.
 */
export function withNewJob(pages: readonly JobListPage[], job: Job): readonly JobListPage[] {
  const isKnown = pages.some(({ jobs }) => jobs.some(({ name }) => name === job.name));
  const [top, ...rest] = pages;
  return isKnown || !top ? pages : [{ ...top, jobs: [job, ...top.jobs] }, ...rest];
}

/**
 * Returns the pages with jobs that are new or have changed. Jobs that are older than those of the
 * pages are on pages that were not read yet.
 */
export function withChanges(
  pages: readonly JobListPage[],
  jobs: readonly Job[],
): readonly JobListPage[] {
  const newest = pages[0]?.jobs[0]?.startedAt.getTime() ?? 0;
  const added = jobs
    .filter(({ startedAt }) => startedAt.getTime() >= newest)
    .toSorted((a, b) => a.startedAt.getTime() - b.startedAt.getTime());
  return added.reduce(withNewJob, withUpdates(pages, jobs));
}

/** Returns the pages without some jobs, which were removed. */
export function withoutJobs(
  pages: readonly JobListPage[],
  names: ReadonlySet<string>,
): readonly JobListPage[] {
  return pages.map((page) => ({ ...page, jobs: page.jobs.filter(({ name }) => !names.has(name)) }));
}

function newerOf(job: Job, update: Job | undefined): Job {
  return update && isNewer(update, job) ? update : job;
}

function isNewer(update: Job | undefined, job: Job): boolean {
  if (!update || job.state.kind !== "PROCESSING") return false;
  return update.state.kind !== "PROCESSING" || update.updatedAt >= job.updatedAt;
}
