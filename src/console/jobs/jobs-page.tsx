import { type RefObject, useCallback, useEffect, useRef } from "react";
import { useLocation, useSearch } from "wouter";
import { useSession } from "../api/use-session.ts";
import { useNotify } from "../parts/announcer.tsx";
import { Button } from "../parts/button.tsx";
import { Empty } from "../parts/empty.tsx";
import { PageHead } from "../parts/page-head.tsx";
import { ProblemNote } from "../parts/problem-note.tsx";
import { commonText } from "../text/common.ts";
import { jobFailure } from "../text/job-failures.ts";
import { jobsText } from "../text/jobs.ts";
import { useText } from "../text/language.tsx";
import { useUploads } from "../upload/uploads.tsx";
import { ChooseFiles } from "./choose-files.tsx";
import { isCancelled, jobOf, subjectOf, type Job } from "./job.ts";
import { isAwaited } from "./open-when-ready.ts";
import { JobsList } from "./jobs-list.tsx";
import { NewJob } from "./new-job.tsx";
import { NotifyChoice } from "./notify-choice.tsx";
import { FinishedNote, RemoveFinished, useFinishedRemoval } from "./remove-finished.tsx";
import { InterruptedUploads, UploadsList } from "./uploads-list.tsx";
import { useJobs } from "./use-jobs.ts";
import "../parts/rows.css";
import "./jobs.css";

/**
 * The form for a new job, the uploads, and the list of jobs, which stays up to date. `?new` opens
 * the form.
 */
export function JobsPage() {
  const t = useText();
  const { draft, uploads } = useUploads();
  const mayWrite = useSession().scopes.includes("transcripts.write");
  const announce = useNotify();
  const list = useJobs(useAnnounceEnd());
  useOpenAwaited(list.jobs);
  const button = useRef<HTMLButtonElement>(null);
  const { open, close } = useOpener(button, mayWrite);
  const announceSubmitted = (subject: string): void => announce(t(jobsText.submitted)(subject));
  const removal = useFinishedRemoval(list.drop);
  const jobs = list.jobs?.filter(({ name }) => !removal.hidden.has(name));
  const isAnyFinished = jobs?.some(({ state }) => state.kind !== "PROCESSING") === true;
  const isForm = draft.isOpen && mayWrite;
  return (
    <>
      <PageHead title={t(commonText.jobs)} percent={percentOf(jobs ?? [])} sub={t(jobsText.sub)}>
        {mayWrite && isAnyFinished && <RemoveFinished {...removal} />}
        {mayWrite && !isForm && (
          <Button ref={button} look="primary" onPress={() => open("FILES")}>
            {t(jobsText.newJob)}
          </Button>
        )}
      </PageHead>
      {isForm && (
        <NewJob
          onClose={close}
          onSubmitted={(answer) => {
            const job = jobOf(answer);
            list.addNew(job);
            announceSubmitted(subjectOf(job));
          }}
        />
      )}
      <FinishedNote {...removal} />
      <UploadsList />
      {mayWrite && <InterruptedUploads />}
      {list.error && !jobs && (
        <ProblemNote error={list.error} onRetry={() => void list.refetch()} />
      )}
      {jobs?.length === 0 && uploads.length === 0 && !isForm && (
        <EmptyJobs mayWrite={mayWrite} onUrl={() => open("URL")} />
      )}
      {!jobs && !list.error && <p className="quiet">{t(commonText.loading)}</p>}
      {jobs !== undefined && jobs.length > 0 && (
        <JobsList
          jobs={jobs}
          more={
            list.hasNextPage
              ? { isLoading: list.isFetchingNextPage, load: () => void list.fetchNextPage() }
              : undefined
          }
          visibleRows={list.visibleRows}
          mayWrite={mayWrite}
          onUpdate={list.update}
          removal={removal}
          onSubmitted={(subject) => {
            announceSubmitted(subject);
            void list.refetch();
          }}
        />
      )}
      {jobs !== undefined && jobs.length > 0 && <NotifyChoice />}
    </>
  );
}

/** Opens and closes the form, and moves the keyboard focus accordingly. */
function useOpener(button: RefObject<HTMLButtonElement | null>, mayWrite: boolean) {
  const { draft, change } = useUploads();
  const wasOpen = useRef(draft.isOpen);
  const opensForm = new URLSearchParams(useSearch()).has("new");
  useEffect(() => {
    if (opensForm && mayWrite) change({ isOpen: true });
  }, [opensForm, mayWrite, change]);
  useEffect(() => {
    if (wasOpen.current === draft.isOpen) return;
    wasOpen.current = draft.isOpen;
    if (draft.isOpen) document.querySelector<HTMLElement>(".new-job :checked")?.focus();
    else button.current?.focus();
  }, [draft.isOpen, button]);
  const open = (way: "FILES" | "URL"): void => change({ isOpen: true, way });
  return { open, close: () => change({ isOpen: false }) };
}

/** Returns the progress of the running jobs together; undefined if there are none. */
function percentOf(jobs: readonly Job[]): number | undefined {
  const percents = jobs.flatMap(({ state }) =>
    state.kind === "PROCESSING" ? [state.percent] : [],
  );
  if (percents.length === 0) return undefined;
  return percents.reduce((sum, percent) => sum + percent, 0) / percents.length;
}

/** Opens the transcript of a sample that was submitted here as soon as it is ready. */
function useOpenAwaited(jobs: readonly Job[] | undefined): void {
  const [, goTo] = useLocation();
  // Each time, because the list may have the job before the page knows the name of the job.
  useEffect(() => {
    for (const { name, state } of jobs ?? []) {
      if (state.kind === "SUCCESS" && isAwaited(name)) goTo(`/${state.transcript}`);
    }
  });
}

/** Returns a function that announces the end of a job that was shown as running. */
function useAnnounceEnd(): (job: Job) => void {
  const t = useText();
  const announce = useNotify();
  return useCallback(
    (job) => {
      const { state } = job;
      const subject = subjectOf(job) || t(jobsText.untitled);
      if (state.kind === "SUCCESS") announce(t(jobsText.succeeded)(subject));
      if (state.kind === "FAILED" && isCancelled(state.code)) {
        announce(`${t(jobsText.cancelled)}: ${subject}`);
      } else if (state.kind === "FAILED") {
        const { sentence, detail } = jobFailure(state.message);
        const why = detail === undefined ? t(sentence) : `${t(sentence)} ${detail}`;
        announce(t(jobsText.failed)(subject, why));
      }
    },
    [t, announce],
  );
}

/** Shown while there are no jobs: what to do first. */
function EmptyJobs({
  mayWrite,
  onUrl,
}: {
  readonly mayWrite: boolean;
  readonly onUrl: () => void;
}) {
  const t = useText();
  return (
    <Empty title={t(jobsText.emptyTitle)}>
      <p>{t(mayWrite ? jobsText.emptyNext : jobsText.emptyReadOnly)}</p>
      {mayWrite && (
        <div className="jobs-begin">
          <ChooseFiles look="plain" text={t(jobsText.chooseFiles)} />
          <Button onPress={onUrl}>{t(jobsText.giveUrl)}</Button>
        </div>
      )}
    </Empty>
  );
}
