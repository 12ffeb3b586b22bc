import { useEffect, useRef } from "react";
import { Button } from "../parts/button.tsx";
import { jobsText } from "../text/jobs.ts";
import { useText } from "../text/language.tsx";
import type { Job } from "./job.ts";
import { JobRow } from "./job-row.tsx";
import type { FinishedRemoval } from "./remove-finished.tsx";
import { useNow } from "../text/use-now.ts";
import { usePresentTitles } from "./use-present-titles.ts";
import { usePlaces } from "./use-places.ts";
import type { VisibleRows } from "./visible-rows.ts";

/** Jobs, newest first. Older jobs load when the end of the list comes near, or with a button. */
export function JobsList({
  jobs,
  more,
  ...row
}: {
  readonly jobs: readonly Job[];
  /**
   * Whether older jobs are loading, and the function that loads them; undefined if there are no
   * older jobs.
   */
  readonly more: { readonly isLoading: boolean; readonly load: () => void } | undefined;
  readonly visibleRows: VisibleRows;
  readonly mayWrite: boolean;
  readonly onUpdate: (job: Job) => void;
  readonly onSubmitted: (subject: string) => void;
  readonly removal: FinishedRemoval;
}) {
  const t = useText();
  const now = useNow();
  const places = usePlaces(jobs);
  const titles = usePresentTitles(jobs);
  return (
    <>
      <ul className="rows jobs-rows" aria-label={t(jobsText.list)}>
        {jobs.map((job) => (
          <JobRow
            key={job.name}
            job={job}
            now={now}
            before={places.get(job.name)}
            title={titleOf(job, titles)}
            {...row}
          />
        ))}
      </ul>
      {more && <More {...more} />}
    </>
  );
}

/** Returns the present title of a job's transcript; undefined if it is not known. */
function titleOf(
  { state }: Job,
  titles: ReturnType<typeof usePresentTitles>,
): string | null | undefined {
  return state.kind === "SUCCESS" ? titles.get(state.transcript) : undefined;
}

function More({ isLoading, load }: { readonly isLoading: boolean; readonly load: () => void }) {
  const t = useText();
  const end = useRef<HTMLDivElement>(null);
  const latest = useRef(load);
  useEffect(() => {
    latest.current = load;
  });
  useEffect(() => {
    const { current } = end;
    if (!current || isLoading) return undefined;
    const observer = new IntersectionObserver(
      ([entry]) => {
        if (entry?.isIntersecting === true) latest.current();
      },
      { rootMargin: "600px" },
    );
    observer.observe(current);
    return () => observer.disconnect();
  }, [isLoading]);
  return (
    <div ref={end} className="jobs-more">
      <Button look="quiet" isPending={isLoading} onPress={load}>
        {t(isLoading ? jobsText.loadingMore : jobsText.more)}
      </Button>
    </div>
  );
}
