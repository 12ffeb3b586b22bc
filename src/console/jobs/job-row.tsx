import { useCallback } from "react";
import { Link } from "wouter";
import { Chip } from "../parts/chip.tsx";
import { ProgressLine } from "../parts/progress-line.tsx";
import { when } from "../text/dates.ts";
import { jobsText } from "../text/jobs.ts";
import { languageName } from "../text/language-names.ts";
import { useLanguage, useText } from "../text/language.tsx";
import { clockText, secondsOf } from "../text/numbers.ts";
import { subjectOf, type Job } from "./job.ts";
import { JobFailed } from "./job-failed.tsx";
import { JobRunning } from "./job-running.tsx";
import type { FinishedRemoval } from "./remove-finished.tsx";
import { RemoveJob } from "./remove-job.tsx";
import type { VisibleRows } from "./visible-rows.ts";

/** A job in the list, with its title, state and buttons. */
export function JobRow({
  job,
  now,
  before,
  title,
  visibleRows,
  mayWrite,
  onUpdate,
  onSubmitted,
  removal,
}: {
  readonly job: Job;
  readonly now: Date;
  /** About how many jobs are before it in the queue; undefined if this is not known. */
  readonly before: number | undefined;
  /** The present title of the transcript; null if it was deleted, undefined if it is unknown. */
  readonly title: string | null | undefined;
  readonly visibleRows: VisibleRows;
  readonly mayWrite: boolean;
  readonly onUpdate: (job: Job) => void;
  /** Called when the recording has been submitted again, as another job. */
  readonly onSubmitted: (subject: string) => void;
  readonly removal: FinishedRemoval;
}) {
  const { language } = useLanguage();
  const t = useText();
  const { name, state, metadata, startedAt, newVersionOf, model } = job;
  const observe = useCallback(
    (row: Element | null) => (row ? visibleRows.observe(row, name) : undefined),
    [visibleRows, name],
  );
  const subject = titleOf(job, title) || t(jobsText.untitled);
  const isDeleted = title === null;
  const seconds = secondsOf(metadata.recordingDuration);
  return (
    <li className="row job-row" ref={observe}>
      {state.kind === "SUCCESS" && !isDeleted ? (
        <Link className="title" dir="auto" to={`/${state.transcript}`}>
          {subject}
        </Link>
      ) : (
        <span className="title" dir="auto">
          {subject}
        </span>
      )}
      <div className="meta">
        {[...new Set(metadata.keywords)].map((keyword) => (
          <Chip key={keyword} text={keyword} />
        ))}
        <span>{t(languageName(metadata.languageCode ?? ""))}</span>
        {model !== "" && <span dir="auto">{model}</span>}
        {newVersionOf !== "" && <span>{t(jobsText.newVersion)}</span>}
        {state.kind === "PROCESSING" && (
          <JobRunning {...{ job, before, subject, mayWrite, onUpdate }} {...state} />
        )}
        {state.kind === "SUCCESS" && <Made transcript={state.transcript} isDeleted={isDeleted} />}
        {state.kind === "FAILED" && (
          <JobFailed {...{ job, subject, mayWrite, onSubmitted }} {...state} />
        )}
        {mayWrite && state.kind !== "PROCESSING" && <RemoveJob {...{ job, subject, removal }} />}
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

/** The state of a job that has made a transcript. */
function Made({
  transcript,
  isDeleted,
}: {
  readonly transcript: string;
  readonly isDeleted: boolean;
}) {
  const t = useText();
  if (isDeleted) {
    return (
      <span className="job-state" data-sign="–">
        {t(jobsText.deleted)}
      </span>
    );
  }
  return (
    <>
      <span className="job-state" data-sign="✓">
        {t(jobsText.ready)}
      </span>
      <Link className="job-open" to={`/${transcript}`} aria-hidden="true" tabIndex={-1}>
        {t(jobsText.open)}
      </Link>
    </>
  );
}

/** Returns the present title of a transcript, which may differ from that of its job. */
function titleOf(job: Job, title: string | null | undefined): string {
  if (title === null || title === undefined) return subjectOf(job);
  return subjectOf({ ...job, metadata: { ...job.metadata, subject: title } });
}
