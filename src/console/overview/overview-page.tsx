import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import { useSession } from "../api/use-session.ts";
import { isFirstLoad } from "../parts/is-first-load.ts";
import { PageHead } from "../parts/page-head.tsx";
import { ProblemNote } from "../parts/problem-note.tsx";
import { commonText } from "../text/common.ts";
import { useText } from "../text/language.tsx";
import { overviewText } from "../text/overview.ts";
import { useUploads } from "../upload/uploads.tsx";
import { FirstSteps } from "./first-steps.tsx";
import { useFirstSteps } from "./use-first-steps.ts";
import { healthQuery } from "./health-query.ts";
import { Health } from "./health.tsx";
import { LatestJobs } from "./latest-jobs.tsx";
import { LatestTranscripts } from "./latest-transcripts.tsx";
import { Models } from "./models.tsx";
import { modelsQuery } from "../api/installed-languages.ts";
import {
  polledAccountQuery,
  latestJobsQuery,
  latestTranscriptsQuery,
  usageDaysQuery,
} from "./overview-queries.ts";
import { Usage } from "./usage.tsx";
import "../parts/rows.css";
import "./overview.css";

/**
 * The activity of the account and the health of the service; for a new account, the first steps.
 */
export function OverviewPage() {
  const t = useText();
  const { account, scopes } = useSession();
  const mayRead = scopes.includes("transcripts.read");
  const isLoading = isFirstLoad([
    useQuery({ ...latestJobsQuery, enabled: mayRead }),
    useQuery({ ...latestTranscriptsQuery, enabled: mayRead }),
    useQuery(polledAccountQuery),
    useQuery(usageDaysQuery),
    useQuery(healthQuery),
    useQuery(modelsQuery),
  ]);
  return (
    <>
      <PageHead title={t(commonText.overview)} sub={account.displayName}>
        {scopes.includes("transcripts.write") && (
          <Link className="button primary" to="/jobs?new">
            {t(overviewText.newTranscript)}
          </Link>
        )}
      </PageHead>
      {isLoading && <p className="quiet">{t(commonText.loading)}</p>}
      <div className="overview" hidden={isLoading}>
        <Activity />
        <div className="overview-service">
          <Health />
          <Models />
        </div>
      </div>
    </>
  );
}

function Activity() {
  const t = useText();
  const { uploads } = useUploads();
  const { scopes } = useSession();
  const mayRead = scopes.includes("transcripts.read");
  const steps = useFirstSteps();
  const jobs = useQuery({ ...latestJobsQuery, enabled: mayRead });
  const transcripts = useQuery({ ...latestTranscriptsQuery, enabled: mayRead });
  if (!mayRead) {
    return (
      <div className="overview-activity">
        <Usage />
      </div>
    );
  }
  const error = jobs.error ?? transcripts.error;
  if (!jobs.data || !transcripts.data) {
    if (!error) return <p className="quiet">{t(commonText.loading)}</p>;
    const retry = () => void Promise.all([jobs.refetch(), transcripts.refetch()]);
    return <ProblemNote error={error} onRetry={retry} />;
  }
  const isNew = jobs.data.length === 0 && transcripts.data.length === 0 && uploads.length === 0;
  if (isNew) return <FirstSteps onShown={steps.begin} />;
  return (
    <div className="overview-activity">
      {steps.isShown && <FirstSteps onEnd={steps.end} />}
      <Usage />
      <LatestJobs jobs={jobs.data} now={new Date(jobs.dataUpdatedAt)} />
      <LatestTranscripts rows={transcripts.data} now={new Date(transcripts.dataUpdatedAt)} />
    </div>
  );
}
