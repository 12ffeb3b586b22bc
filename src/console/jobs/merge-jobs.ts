import type { Job, JobsPart } from "./job.ts";

/**
 * Puts what was heard of jobs into the pages that are shown. What is older than what is there, or
 * of a job that has ended, says nothing.
 */
export function withJobs(parts: readonly JobsPart[], heard: readonly Job[]): readonly JobsPart[] {
  const byName = new Map(heard.map((job) => [job.name, job]));
  return parts.map((part) =>
    part.jobs.some((job) => isNews(job, byName.get(job.name)))
      ? { ...part, jobs: part.jobs.map((job) => newer(job, byName.get(job.name))) }
      : part,
  );
}

/**
 * The same with jobs that came since, above the others; undefined where there may be more of them
 * than `first`, the first page, has.
 */
export function withFirstPart(
  parts: readonly JobsPart[],
  first: JobsPart,
): readonly JobsPart[] | undefined {
  const known = new Set(parts.flatMap(({ jobs }) => jobs.map(({ name }) => name)));
  const added = first.jobs.filter(({ name }) => !known.has(name));
  if (added.length === first.jobs.length && added.length > 0) return undefined;
  const [top, ...rest] = withJobs(parts, first.jobs);
  if (!top || added.length === 0) return top ? [top, ...rest] : [first];
  return [{ ...top, jobs: [...added, ...top.jobs] }, ...rest];
}

/** The same with a job that was submitted here on top, once. */
export function withNewJob(parts: readonly JobsPart[], job: Job): readonly JobsPart[] {
  const isKnown = parts.some(({ jobs }) => jobs.some(({ name }) => name === job.name));
  const [top, ...rest] = parts;
  return isKnown || !top ? parts : [{ ...top, jobs: [job, ...top.jobs] }, ...rest];
}

function newer(job: Job, heard: Job | undefined): Job {
  return heard && isNews(job, heard) ? heard : job;
}

function isNews(job: Job, heard: Job | undefined): boolean {
  if (!heard || job.state.kind !== "PROCESSING") return false;
  return heard.state.kind !== "PROCESSING" || heard.updatedAt >= job.updatedAt;
}
