import { useMutation } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { Button } from "../parts/button.tsx";
import { ProblemNote } from "../parts/problem-note.tsx";
import { jobsText } from "../text/jobs.ts";
import { useLanguage, useText } from "../text/language.tsx";
import { spanText } from "../text/numbers.ts";
import { cancelJob } from "./change-jobs.ts";
import type { Job } from "./job.ts";
import { secondsLeft, type SeenProgress } from "./time-left.ts";

/**
 * The progress of a job, and a button that cancels it. If work would be lost, the button first asks
 * for confirmation.
 */
export function JobRunning({
  job,
  percent,
  needsContent,
  before,
  subject,
  mayWrite,
  onUpdate,
}: {
  readonly job: Job;
  readonly percent: number;
  /** Whether the job waits for its content. */
  readonly needsContent: boolean;
  /** About how many jobs are before it in the queue; undefined if this is not known. */
  readonly before: number | undefined;
  readonly subject: string;
  readonly mayWrite: boolean;
  readonly onUpdate: (job: Job) => void;
}) {
  const t = useText();
  const waiting = needsContent ? jobsText.waitingForContent : jobsText.waiting;
  const { language } = useLanguage();
  const left = useSecondsLeft(percent);
  const [isAsked, setIsAsked] = useState(false);
  const cancel = useMutation({ mutationFn: cancelJob, onSuccess: onUpdate });
  const cancelButton = useRef<HTMLButtonElement>(null);
  const wasAsked = useRef(false);
  useEffect(() => {
    if (wasAsked.current && !isAsked) cancelButton.current?.focus();
    wasAsked.current = isAsked;
  }, [isAsked]);
  if (isAsked) {
    return (
      // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- Escape, pressed on either button
      <fieldset
        className="job-question"
        aria-label={t(jobsText.cancelOf)(subject)}
        onKeyDown={({ key }) => {
          if (key === "Escape") setIsAsked(false);
        }}
      >
        <span>{t(jobsText.cancelQuestion)(percent)}</span>
        <Button
          // oxlint-disable-next-line jsx-a11y/no-autofocus -- it replaces the button that was pressed
          autoFocus
          onPress={() => setIsAsked(false)}
        >
          {t(jobsText.cancelNo)}
        </Button>
        <Button look="danger" isPending={cancel.isPending} onPress={() => cancel.mutate(job)}>
          {t(jobsText.cancelYes)}
        </Button>
        {cancel.error && <ProblemNote error={cancel.error} />}
      </fieldset>
    );
  }
  return (
    <>
      <span className="job-state" data-sign={percent === 0 ? "○" : "◐"}>
        {percent === 0 ? t(waiting) : t(jobsText.running)(percent)}
      </span>
      {percent === 0 && before !== undefined && <span>{t(jobsText.before)(before)}</span>}
      {left !== undefined && <span>{t(jobsText.upLeft)(spanText(language, left))}</span>}
      {mayWrite && (
        <Button
          ref={cancelButton}
          look="quiet"
          aria-label={t(jobsText.cancelOf)(subject)}
          isPending={cancel.isPending}
          onPress={() => (percent === 0 ? cancel.mutate(job) : setIsAsked(true))}
        >
          {t(jobsText.cancel)}
        </Button>
      )}
      {cancel.error && <ProblemNote error={cancel.error} />}
    </>
  );
}

/** Returns how long a job still takes, from what this page has seen of its progress. */
function useSecondsLeft(percent: number): number | undefined {
  const first = useRef<SeenProgress>(undefined);
  const [left, setLeft] = useState<number>();
  useEffect(() => {
    const seen = { percent, atMs: performance.now() };
    // A job that begins again has a lower progress.
    if (percent === 0 || (first.current && percent < first.current.percent)) {
      first.current = undefined;
    }
    if (percent > 0) first.current ??= seen;
    setLeft(first.current && secondsLeft(first.current, seen));
  }, [percent]);
  return left;
}
