import { lazy, Suspense } from "react";
import { Route, Switch, useLocation } from "wouter";
import type { Session } from "../api/session.ts";
import { SessionContext } from "../api/use-session.ts";
import { loadLater } from "../parts/load-later.tsx";
import { PageHead } from "../parts/page-head.tsx";
import type { LinkState } from "../sign-in/link.ts";
import { commonText } from "../text/common.ts";
import { useText } from "../text/language.tsx";
import { useUploads } from "../upload/uploads.tsx";
import { Foot } from "./foot.tsx";
import { LoadProblem } from "./load-problem.tsx";
import { OfflineBanner } from "./offline-banner.tsx";
import { usePageFocus } from "./page-focus.ts";
import { PageGuard } from "./page-guard.tsx";
import { Rail } from "./rail.tsx";
import "./frame.css";

const SignInProblem = lazy(() =>
  import("../sign-in/sign-in-problem.tsx").then(of("SignInProblem")),
);

const UploadsLine = loadLater(() =>
  import("../upload/uploads-line.tsx").then(({ UploadsLine }) => UploadsLine),
);
const FollowJobs = loadLater(() =>
  import("../jobs/follow-jobs.tsx").then(({ FollowJobs }) => FollowJobs),
);

const pages = [
  { path: "/", Page: lazy(() => import("../overview/overview-page.tsx").then(of("OverviewPage"))) },
  {
    path: "/transcripts",
    Page: lazy(() => import("../transcripts/transcripts-page.tsx").then(of("TranscriptsPage"))),
  },
  {
    path: "/transcripts/:id",
    Page: lazy(() => import("../transcript/transcript-page.tsx").then(of("TranscriptPage"))),
  },
  {
    path: "/transcripts/:id/examples",
    Page: lazy(() => import("../transcript/examples/examples-page.tsx").then(of("ExamplesPage"))),
  },
  { path: "/import", Page: lazy(() => import("../import/import-page.tsx").then(of("ImportPage"))) },
  { path: "/bin", Page: lazy(() => import("../transcripts/bin-page.tsx").then(of("BinPage"))) },
  { path: "/jobs", Page: lazy(() => import("../jobs/jobs-page.tsx").then(of("JobsPage"))) },
  { path: "/live", Page: lazy(() => import("../live/live-page.tsx").then(of("LivePage"))) },
  {
    path: "/vocabulary",
    Page: lazy(() => import("../vocabulary/vocabulary-page.tsx").then(of("VocabularyPage"))),
  },
  { path: "/keys", Page: lazy(() => import("../keys/keys-page.tsx").then(of("KeysPage"))) },
  {
    path: "/programs",
    Page: lazy(() => import("../programs/programs-page.tsx").then(of("ProgramsPage"))),
  },
  {
    path: "/webhooks",
    Page: lazy(() => import("../webhooks/webhooks-page.tsx").then(of("WebhooksPage"))),
  },
  {
    path: "/webhooks/:id",
    Page: lazy(() => import("../webhooks/webhook-page.tsx").then(of("WebhookPage"))),
  },
  { path: "/usage", Page: lazy(() => import("../usage/usage-page.tsx").then(of("UsagePage"))) },
  {
    path: "/account/settings",
    Page: lazy(() =>
      import("../account/account-settings-page.tsx").then(of("AccountSettingsPage")),
    ),
  },
  {
    path: "/operator",
    Page: lazy(() => import("../operator/operator-page.tsx").then(of("OperatorPage"))),
  },
  { path: "/help", Page: lazy(() => import("../help/help-page.tsx").then(of("HelpPage"))) },
  {
    path: "/account",
    Page: lazy(() => import("../account/account-page.tsx").then(of("AccountPage"))),
  },
] as const;

/**
 * Returns a function that converts a page's module, with its named export, to the form that lazy()
 * requires.
 */
function of<Name extends string, Page>(name: Name) {
  return (module: Readonly<Record<Name, Page>>) => ({ default: module[name] });
}

/** The console of a signed-in user: the navigation, and the page of the current address. */
export function Frame({ session, link }: { readonly session: Session; readonly link: LinkState }) {
  const t = useText();
  const [here] = useLocation();
  usePageFocus();
  return (
    <SessionContext value={session}>
      <div className="frame">
        <a className="skip" href="#content">
          {t(commonText.skipToContent)}
        </a>
        {session.scopes.includes("transcripts.read") && <FollowJobs />}
        <Rail />
        <Foot session={session} />
        <div className="frame-page">
          <OfflineBanner />
          <LoadProblem />
          <main id="content" tabIndex={-1}>
            <UploadsIfAny />
            {link.problem !== undefined && (
              <Suspense>
                <SignInProblem error={link.problem} onRetry={link.retry} />
              </Suspense>
            )}
            <PageGuard key={here}>
              <Suspense fallback={<p className="quiet">{t(commonText.loading)}</p>}>
                <Switch>
                  {pages.map(({ path, Page }) => (
                    <Route key={path} path={path} component={Page} />
                  ))}
                  {/* A RegExp, because patterns do not match addresses with line breaks. */}
                  <Route path={/^/}>
                    <PageMissing />
                  </Route>
                </Switch>
              </Suspense>
            </PageGuard>
          </main>
        </div>
      </div>
    </SessionContext>
  );
}

function PageMissing() {
  const t = useText();
  return <PageHead title={t(commonText.pageMissing)} sub={t(commonText.pageMissingNext)} />;
}

/** A component of its own, so that the progress of uploads renders nothing else. */
function UploadsIfAny() {
  const { uploads } = useUploads();
  return uploads.length > 0 && <UploadsLine />;
}
