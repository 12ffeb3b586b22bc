import { useQuery } from "@tanstack/react-query";
import { Link, Redirect } from "wouter";
import type { ReactNode } from "react";
import { PageHead } from "../parts/page-head.tsx";
import { ProblemNote } from "../parts/problem-note.tsx";
import { ProgressLine } from "../parts/progress-line.tsx";
import { commonText } from "../text/common.ts";
import type { Phrase } from "../text/language.tsx";
import { useText } from "../text/language.tsx";
import { transcriptText } from "../text/transcript.ts";
import { jobInsteadQuery } from "./transcript-query.ts";

/**
 * The content that replaces a missing transcript: the state of the job that creates the transcript,
 * or a note that the transcript does not exist.
 */
export function NoTranscript({ id }: { readonly id: string }) {
  const t = useText();
  const { data: job, error, refetch } = useQuery(jobInsteadQuery(id));
  if (error) return <ProblemNote error={error} onRetry={() => void refetch()} />;
  if (job === undefined) return <p className="quiet">{t(commonText.loading)}</p>;
  if (job === null) {
    return (
      <Missing title={transcriptText.missing} next={transcriptText.missingNext}>
        <Link to="/transcripts">{t(transcriptText.allTranscripts)}</Link>
      </Missing>
    );
  }
  if (job.transcript !== undefined) return <Redirect to={`/${job.transcript}`} replace />;
  const toJobs = <Link to="/jobs">{t(transcriptText.toJobs)}</Link>;
  if (job.state === "ERROR" || job.state === "CANCELLED") {
    return (
      <Missing title={transcriptText.jobFailed} next={transcriptText.jobFailedNext}>
        {toJobs}
      </Missing>
    );
  }
  return (
    <Missing title={transcriptText.inProgress} next={transcriptText.inProgressNext}>
      <ProgressLine label={t(transcriptText.inProgress)} percent={job.progressPercent} />
      {toJobs}
    </Missing>
  );
}

/** The content that is shown if the transcript exists, but the version in the address does not. */
export function NoVersion({ id }: { readonly id: string }) {
  const t = useText();
  return (
    <Missing title={transcriptText.versionMissing} next={transcriptText.versionMissingNext}>
      <Link to={`/transcripts/${encodeURIComponent(id)}`}>{t(transcriptText.toCurrent)}</Link>
    </Missing>
  );
}

function Missing({
  title,
  next,
  children,
}: {
  readonly title: Phrase<string>;
  readonly next: Phrase<string>;
  readonly children: ReactNode;
}) {
  const t = useText();
  return (
    <>
      <PageHead title={t(title)} sub={t(next)} />
      <div className="reading-missing">{children}</div>
    </>
  );
}
