import { useCallback } from "react";
import { Link } from "wouter";
import { Chip } from "../parts/chip.tsx";
import { ProgressLine } from "../parts/progress-line.tsx";
import { when } from "../text/dates.ts";
import { jobsText, languageName } from "../text/jobs.ts";
import { useLanguage, useText } from "../text/language.tsx";
import { clockText, secondsOf } from "../text/numbers.ts";
import type { InSight } from "./in-sight.ts";
import { subjectOf, type Job } from "./job.ts";
import { JobFailed } from "./job-failed.tsx";
import { JobRunning } from "./job-running.tsx";

/** A job in the list: what it is of, where it stands, and what can be done about it. */
export function JobRow({
  job,
  now,
  inSight,
  mayWrite,
  onHeard,
  onSubmitted,
}: {
  readonly job: Job;
  readonly now: Date;
  readonly inSight: InSight;
  readonly mayWrite: boolean;
  readonly onHeard: (job: Job) => void;
  /** It was submitted once more, as another job. */
  readonly onSubmitted: (subject: string) => void;
}) {
  const { language } = useLanguage();
  const t = useText();
  const { name, state, metadata, startedAt } = job;
  const look = useCallback(
    (row: Element | null) => (row ? inSight.observe(row, name) : undefined),
    [inSight, name],
  );
  const subject = subjectOf(job) || t(jobsText.untitled);
  const seconds = secondsOf(metadata.recordingDuration);
  return (
    <li className="row job-row" ref={look}>
      {state.kind === "SUCCESS" ? (
        <Link className="title" to={`/${state.transcript}`}>
          {subject}
        </Link>
      ) : (
        <span className="title">{subject}</span>
      )}
      <div className="meta">
        {[...new Set(metadata.keywords)].map((keyword) => (
          <Chip key={keyword} text={keyword} />
        ))}
        <span>{languageName(language, metadata.languageCode ?? "")}</span>
        {state.kind === "PROCESSING" && (
          <JobRunning {...{ job, subject, mayWrite, onHeard }} percent={state.percent} />
        )}
        {state.kind === "SUCCESS" && <span>{t(jobsText.ready)}</span>}
        {state.kind === "FAILED" && (
          <JobFailed {...{ job, subject, mayWrite, onSubmitted }} {...state} />
        )}
      </div>
      <div className="side">
        {seconds > 0 && <div>{clockText(seconds)}</div>}
        <time dateTime={startedAt.toISOString()}>{when(language, startedAt, now)}</time>
      </div>
      {state.kind === "PROCESSING" && (
        <div className="wide">
          <ProgressLine label={t(jobsText.progressOf)(subject)} percent={state.percent} />
        </div>
      )}
    </li>
  );
}
