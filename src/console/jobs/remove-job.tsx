import { useMutation } from "@tanstack/react-query";
import { Button } from "../parts/button.tsx";
import { useNotify } from "../parts/announcer.tsx";
import { ProblemNote } from "../parts/problem-note.tsx";
import { jobsText } from "../text/jobs.ts";
import { useText } from "../text/language.tsx";
import { removeJobs } from "./change-jobs.ts";
import type { Job } from "./job.ts";

/** A button that removes a job that has ended from the list. */
export function RemoveJob({
  job,
  subject,
  onRemoved,
}: {
  readonly job: Job;
  readonly subject: string;
  /** Called with the names of the jobs that were removed. */
  readonly onRemoved: (names: ReadonlySet<string>) => void;
}) {
  const t = useText();
  const notify = useNotify();
  const remove = useMutation({
    mutationFn: () => removeJobs([job.name]),
    onSuccess() {
      notify(t(jobsText.removed)(subject));
      onRemoved(new Set([job.name]));
    },
  });
  return (
    <>
      <Button
        look="quiet"
        aria-label={`${t(jobsText.remove)}: ${subject}`}
        isPending={remove.isPending}
        onPress={() => remove.mutate()}
      >
        {t(jobsText.remove)}
      </Button>
      {remove.error && <ProblemNote error={remove.error} />}
    </>
  );
}
