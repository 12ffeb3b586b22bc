import { useQuery } from "@tanstack/react-query";
import { useLocation } from "wouter";
import { ApiError } from "../api/api-error.ts";
import { Appearance } from "../frame/appearance.tsx";
import { Mark } from "../frame/mark.tsx";
import { PageHead } from "../parts/page-head.tsx";
import { ProblemNote } from "../parts/problem-note.tsx";
import { commonText } from "../text/common.ts";
import { useText } from "../text/language.tsx";
import { sharedPageText, sharedProblems } from "../text/shared-page.ts";
import { SharedReading } from "./shared-reading.tsx";
import { sharedQuery } from "./shared-query.ts";
import "./shared-page.css";

/** The page of a link: a transcript for readers without an account, at /shared/<token>. */
export function SharedPage() {
  const t = useText();
  const [here] = useLocation();
  return (
    <div className="shared">
      <a className="skip" href="#content">
        {t(commonText.skipToContent)}
      </a>
      <header className="shared-head">
        <p className="shared-mark">
          <Mark /> <span>Hlust</span>
        </p>
        <Appearance />
      </header>
      <main id="content" tabIndex={-1}>
        <Content token={here.slice("/shared/".length)} />
      </main>
    </div>
  );
}

function Content({ token }: { readonly token: string }) {
  const t = useText();
  const { data, error, refetch } = useQuery(sharedQuery(token));
  if (data) return <SharedReading transcript={data} token={token} />;
  if (!error) return <p className="quiet">{t(commonText.loading)}</p>;
  const isEnded = error instanceof ApiError && error.status === 404;
  if (isEnded)
    return <PageHead title={t(sharedPageText.ended)} sub={t(sharedPageText.endedNext)} />;
  return (
    <>
      <PageHead title={t(commonText.transcripts)} />
      <ProblemNote error={error} own={sharedProblems} onRetry={() => void refetch()} />
    </>
  );
}
