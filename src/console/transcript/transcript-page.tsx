import { useQuery } from "@tanstack/react-query";
import { useParams, useSearch } from "wouter";
import { ApiError } from "../api/api-error.ts";
import { loadLater } from "../parts/load-later.tsx";
import { PageHead } from "../parts/page-head.tsx";
import { ProblemNote } from "../parts/problem-note.tsx";
import { commonText } from "../text/common.ts";
import { useText } from "../text/language.tsx";
import { Reading } from "./reading.tsx";
import { transcriptQuery } from "./transcript-query.ts";

const NoTranscript = loadLater(() => import("./no-transcript.tsx").then((it) => it.NoTranscript));
const NoVersion = loadLater(() => import("./no-transcript.tsx").then((it) => it.NoVersion));

/**
 * The page of one transcript: /transcripts/<id>. `?t=<seconds>` is a position in the transcript,
 * and `?version=<id>` selects an earlier version.
 */
export function TranscriptPage() {
  const t = useText();
  const id = useParams<{ id: string }>().id;
  const version = new URLSearchParams(useSearch()).get("version") ?? undefined;
  // Anyone can create an address, so its id must not reach other methods. Browsers treat a
  // backslash as a slash.
  const name = `transcripts/${encodeURIComponent(id)}`;
  const { data, error, refetch } = useQuery(transcriptQuery(name, version));
  if (data) {
    // Another transcript or version starts with a new state.
    return <Reading key={`${id} ${version}`} transcript={data} name={name} version={version} />;
  }
  if (error instanceof ApiError && (error.status === 404 || error.status === 400)) {
    return version === undefined ? <NoTranscript id={id} /> : <NoVersion id={id} />;
  }
  if (!error) return <p className="quiet">{t(commonText.loading)}</p>;
  return (
    <>
      <PageHead title={t(commonText.transcripts)} />
      <ProblemNote error={error} onRetry={() => void refetch()} />
    </>
  );
}
