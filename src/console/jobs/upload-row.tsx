import { Button } from "../parts/button.tsx";
import { ProblemNote } from "../parts/problem-note.tsx";
import { ProgressLine } from "../parts/progress-line.tsx";
import { SaidDetail } from "../parts/said-text.tsx";
import { commonText } from "../text/common.ts";
import { jobsText } from "../text/jobs.ts";
import { type Phrase, useLanguage, useText } from "../text/language.tsx";
import { bytesText, spanText } from "../text/numbers.ts";
import { problemOf } from "../text/problems.ts";
import { uploadText } from "../text/upload.ts";
import type { QueuedUpload, UploadQueue, UploadState } from "../upload/upload-queue.ts";

/** An upload with its progress, speed and remaining time, or with what it is waiting for. */
export function UploadRow({
  upload,
  queue,
}: {
  readonly upload: QueuedUpload;
  readonly queue: UploadQueue;
}) {
  const t = useText();
  const { id, file, request, state } = upload;
  const subject = request.metadata?.subject || file.name;
  const percent = percentOf(state, file.size);
  const isFailed = state.kind === "FAILED";
  const canRetry = isFailed || state.kind === "WAITING";
  const action = (text: Phrase<string>, act: "retry" | "remove") => (
    <Button look="quiet" aria-label={`${t(text)}: ${subject}`} onPress={() => queue[act](id)}>
      {t(text)}
    </Button>
  );
  return (
    <li className="row upload-row">
      <span className="title" dir="auto">
        {subject}
      </span>
      <div className="meta">
        <UploadFacts state={state} totalBytes={file.size} />
        {canRetry && action(isFailed ? commonText.tryAgain : jobsText.tryNow, "retry")}
        {action(isFailed ? jobsText.removeUpload : jobsText.cancel, "remove")}
      </div>
      <div className="side">{percent > 0 && t(uploadText.percent)(percent)}</div>
      {isFailed ? (
        <div className="wide">
          <ProblemNote error={state.error} />
        </div>
      ) : (
        <div className="wide">
          <ProgressLine label={t(jobsText.progressOf)(subject)} percent={percent} />
        </div>
      )}
    </li>
  );
}

function UploadFacts({
  state,
  totalBytes,
}: {
  readonly state: UploadState;
  readonly totalBytes: number;
}) {
  const t = useText();
  const { language } = useLanguage();
  const bytes = (count: number): string => bytesText(language, count);
  if (state.kind === "WAITING") {
    const { sentence, detail } = problemOf(state.error);
    const isOffline = state.error.reason === "OFFLINE";
    return (
      <output className="failed">
        {isOffline ? t(jobsText.upOffline) : `${t(sentence)} ${t(jobsText.upWaiting)}`}
        <SaidDetail detail={detail} />
      </output>
    );
  }
  if (state.kind === "QUEUED") return <span>{t(jobsText.upQueued)}</span>;
  if (state.kind === "SUBMITTING") return <span>{t(jobsText.upSubmitting)}</span>;
  if (state.kind === "FAILED") return <span>{bytes(totalBytes)}</span>;
  const { sentBytes, bytesPerSecond: speed } = state;
  const facts = [t(jobsText.upSending)(bytes(sentBytes), bytes(totalBytes))];
  if (speed !== undefined) {
    const leftSeconds = Math.ceil((totalBytes - sentBytes) / speed);
    facts.push(t(jobsText.upSpeed)(bytes(speed)));
    facts.push(t(jobsText.upLeft)(spanText(language, leftSeconds)));
  }
  return <span>{facts.join(" · ")}</span>;
}

function percentOf(state: UploadState, totalBytes: number): number {
  if (state.kind === "SUBMITTING") return 100;
  return state.kind === "SENDING" ? Math.floor((100 * state.sentBytes) / totalBytes) : 0;
}
