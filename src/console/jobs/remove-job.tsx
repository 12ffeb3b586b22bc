import { Button } from "../parts/button.tsx";
import { jobsText } from "../text/jobs.ts";
import { useText } from "../text/language.tsx";
import type { Job } from "./job.ts";
import type { FinishedRemoval } from "./remove-finished.tsx";

/** A button that removes a job that has ended from the list. */
export function RemoveJob({
  job,
  subject,
  removal: { take, isEnding },
}: {
  readonly job: Job;
  readonly subject: string;
  readonly removal: FinishedRemoval;
}) {
  const t = useText();
  return (
    <Button
      look="quiet"
      aria-label={`${t(jobsText.remove)}: ${subject}`}
      isPending={isEnding}
      onPress={() => take(job, subject)}
    >
      {t(jobsText.remove)}
    </Button>
  );
}
