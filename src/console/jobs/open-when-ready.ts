/** The names of the jobs whose transcripts are opened as soon as they are ready. */
const awaited = new Set<string>();

/** Lets the page of jobs open the transcript of a job, if it is still shown when the job ends. */
export function openWhenReady(job: string): void {
  awaited.add(job);
}

/** Returns whether the transcript of a job that has ended is to be opened, which it is once. */
export function isAwaited(job: string): boolean {
  return awaited.delete(job);
}
