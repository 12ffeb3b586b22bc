import { Link } from "wouter";
import { isCancelled, subjectOf, type Job } from "../jobs/job.ts";
import { ProgressLine } from "../parts/progress-line.tsx";
import { SaidDetail } from "../parts/said-text.tsx";
import { when } from "../text/dates.ts";
import { jobFailure } from "../text/job-failures.ts";
import { useLanguage, useText } from "../text/language.tsx";
import { overviewText } from "../text/overview.ts";

/** How long failures are shown, followed by the maximum number of jobs shown. */
const failedMsMax = 3 * 86_400_000;
const shownMax = 5;

/** The running jobs and the jobs that failed recently. */
export function LatestJobs({ jobs, now }: { readonly jobs: readonly Job[]; readonly now: Date }) {
  const t = useText();
  const shown = jobs.filter((job) => isShown(job, now)).slice(0, shownMax);
  return (
    <section aria-labelledby="latest-jobs">
      <h2 id="latest-jobs">{t(overviewText.running)}</h2>
      {shown.length === 0 ? (
        <p className="soft">{t(overviewText.quietJobs)}</p>
      ) : (
        <ul className="rows">
          {shown.map((job) => (
            <LatestJob key={job.name} job={job} now={now} />
          ))}
        </ul>
      )}
      <p className="section-more">
        <Link to="/jobs">{t(overviewText.allJobs)}</Link>
      </p>
    </section>
  );
}

function isShown({ state, updatedAt }: Job, now: Date): boolean {
  if (state.kind === "PROCESSING") return true;
  const isFailed = state.kind === "FAILED" && !isCancelled(state.code);
  return isFailed && now.getTime() - updatedAt.getTime() < failedMsMax;
}

function LatestJob({ job, now }: { readonly job: Job; readonly now: Date }) {
  const t = useText();
  const { language } = useLanguage();
  const { state, startedAt } = job;
  const subject = subjectOf(job) || t(overviewText.untitled);
  return (
    <li className="row">
      <span className="title" dir="auto">
        {subject}
      </span>
      {state.kind === "FAILED" && (
        <div className="meta">
          <Failure message={state.message} />
        </div>
      )}
      {state.kind === "PROCESSING" && (
        <div className="meta">
          <span>
            {state.percent === 0 ? t(overviewText.waiting) : t(overviewText.percent)(state.percent)}
          </span>
        </div>
      )}
      <div className="side">
        <time dateTime={startedAt.toISOString()}>{when(language, startedAt, now)}</time>
      </div>
      {state.kind === "PROCESSING" && (
        <div className="wide">
          <ProgressLine label={t(overviewText.progress)(subject)} percent={state.percent} />
        </div>
      )}
    </li>
  );
}

function Failure({ message }: { readonly message: string }) {
  const t = useText();
  const { sentence, detail } = jobFailure(message);
  return (
    <span className="failed">
      {t(sentence)}
      <SaidDetail detail={detail} />
    </span>
  );
}
