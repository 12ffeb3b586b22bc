import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { ApiError } from "../api/api-error.ts";
import { Button } from "../parts/button.tsx";
import { ProblemNote } from "../parts/problem-note.tsx";
import { SaidDetail, SaidText } from "../parts/said-text.tsx";
import { commonText } from "../text/common.ts";
import { canHelpAgain, jobFailure } from "../text/job-failures.ts";
import { jobViolationText } from "../text/job-violations.ts";
import { jobsText } from "../text/jobs.ts";
import { useText } from "../text/language.tsx";
import { retryJob } from "./change-jobs.ts";
import { isCancelled, type Job } from "./job.ts";

/** The reason why a job failed, what to do next, and a button that submits the recording again. */
export function JobFailed({
  job,
  code,
  message,
  subject,
  mayWrite,
  onSubmitted,
}: {
  readonly job: Job;
  readonly code: number;
  readonly message: string;
  readonly subject: string;
  readonly mayWrite: boolean;
  readonly onSubmitted: (subject: string) => void;
}) {
  const t = useText();
  // The idempotency key stays the same, so that pressing the button again after a lost response
  // does not create a second job.
  const [key] = useState(() => crypto.randomUUID());
  const again = useMutation({
    mutationFn: () => retryJob(job, key),
    onSuccess: () => onSubmitted(subject),
  });
  const problem = jobFailure(message);
  const { sentence, next, detail } = problem;
  return (
    <>
      {isCancelled(code) ? (
        <span className="job-state" data-sign="–">
          {t(jobsText.cancelled)}
        </span>
      ) : (
        <span className="job-reason">
          <span className="job-state failed" data-sign="✕">
            {t(sentence)}
          </span>{" "}
          {t(next)}
          <SaidDetail detail={detail} />
        </span>
      )}
      {again.isSuccess && <span>{t(jobsText.triedAgain)}</span>}
      {mayWrite && !again.isSuccess && canHelpAgain(problem) && (
        <Button
          look="quiet"
          aria-label={t(jobsText.tryAgainOf)(subject)}
          isPending={again.isPending}
          onPress={() => again.mutate()}
        >
          {t(commonText.tryAgain)}
        </Button>
      )}
      {again.error && <RetryProblem error={again.error} />}
    </>
  );
}

/**
 * The reason why the job cannot be submitted again: usually the file was deleted or the URL is
 * refused.
 */
function RetryProblem({ error }: { readonly error: unknown }) {
  const violation = error instanceof ApiError ? error.violations[0] : undefined;
  return violation ? (
    <span className="failed" role="alert">
      <SaidText said={jobViolationText(violation)} />
    </span>
  ) : (
    <ProblemNote error={error} />
  );
}
