import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { Link } from "wouter";
import type { TranscriptJobJson } from "../../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { callApi } from "../../api/call-api.ts";
import { useNotify } from "../../parts/announcer.tsx";
import { ProgressLine } from "../../parts/progress-line.tsx";
import { useText } from "../../text/language.tsx";
import { transcribeAgainText } from "../../text/transcribe-again.ts";
import { transcriptQuery } from "../transcript-query.ts";
import { versionsQuery } from "./versions-query.ts";

const readMs = 2_000;

/**
 * The progress of a job that makes a new version of a transcript. When it succeeds, the page shows
 * the new version.
 */
export function FollowAgain({ name, job }: { readonly name: string; readonly job: string }) {
  const t = useText();
  const notify = useNotify();
  const queries = useQueryClient();
  const { data } = useQuery({
    queryKey: ["transcribe-again", job],
    queryFn: async ({ signal }) => await callApi<TranscriptJobJson>(`/v1alpha1/${job}`, { signal }),
    refetchInterval: ({ state }) => (isEnded(state.data) ? false : readMs),
  });
  const hasSucceeded = data?.state === "SUCCESS";
  useEffect(() => {
    if (!hasSucceeded) return;
    void queries.invalidateQueries({ queryKey: transcriptQuery(name).queryKey });
    void queries.invalidateQueries({ queryKey: versionsQuery(name).queryKey });
    void queries.invalidateQueries({ queryKey: ["transcripts"] });
    notify(t(transcribeAgainText.done));
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- once for each job that succeeds
  }, [hasSucceeded]);
  if (data?.state === "ERROR" || data?.state === "CANCELLED") {
    return (
      <p role="alert">
        <span className="failed">{t(transcribeAgainText.failed)}</span>{" "}
        <Link to="/jobs">{t(transcribeAgainText.toJobs)}</Link>
      </p>
    );
  }
  if (hasSucceeded) return null;
  const percent = data?.progressPercent ?? 0;
  return (
    <div className="alignment">
      <p>
        {percent === 0 ? t(transcribeAgainText.waiting) : t(transcribeAgainText.running)(percent)}
      </p>
      <ProgressLine label={t(transcribeAgainText.progress)} percent={percent || undefined} />
    </div>
  );
}

function isEnded(job: TranscriptJobJson | undefined): boolean {
  return job?.state === "SUCCESS" || job?.state === "ERROR" || job?.state === "CANCELLED";
}
