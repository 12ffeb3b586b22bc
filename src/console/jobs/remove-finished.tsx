import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useRef, useState } from "react";
import { useAnnounce } from "../parts/announcer.tsx";
import { Button } from "../parts/button.tsx";
import { focusTitleAfter } from "../parts/focus-title-after.ts";
import { ProblemNote } from "../parts/problem-note.tsx";
import { commonText } from "../text/common.ts";
import { jobsText } from "../text/jobs.ts";
import { useText } from "../text/language.tsx";
import { finishedJobs, removeJobs } from "./change-jobs.ts";
import type { Job } from "./job.ts";
import "../parts/note.css";

/** How long the note offers to undo, while it has neither the pointer nor the keyboard focus. */
const undoSeconds = 15;

type Names = ReadonlySet<string>;

/** The removal of finished jobs from the list, which can be undone for a while. */
export interface FinishedRemoval {
  /** The jobs that are not shown any more. */
  readonly hidden: Names;
  /** The title of the one job that is not shown any more; undefined if there are several. */
  readonly subject: string | undefined;
  readonly isBeginning: boolean;
  /** Whether they are being removed from the service. */
  readonly isEnding: boolean;
  /** Takes all jobs that have ended off the list. */
  readonly begin: () => void;
  /** Takes a job that has ended off the list. */
  readonly take: (job: Job, subject: string) => void;
  readonly undo: () => void;
  /** Removes them from the service, after which they cannot be brought back. */
  readonly end: () => void;
  readonly error: Error | null;
}

const none: Names = new Set();

/**
 * Takes finished jobs off the list. The service removes jobs for good, so they are removed there
 * once they cannot be brought back any more: after some seconds, or when the user leaves the page.
 * A window that is closed before that removes nothing.
 */
export function useFinishedRemoval(drop: (names: Names) => void): FinishedRemoval {
  const t = useText();
  const announce = useAnnounce();
  const queries = useQueryClient();
  const [hidden, setHidden] = useState(none);
  const [subject, setSubject] = useState<string>();
  const remove = useMutation({
    mutationFn: async (names: Names) => removeJobs([...names]),
    onSuccess: (_, names) => drop(names),
    onSettled: async () => {
      await queries.invalidateQueries({ queryKey: ["jobs"] });
      setHidden(none);
    },
  });
  const find = useMutation({
    mutationFn: async () => await finishedJobs(),
    onSuccess(names) {
      remove.reset();
      setHidden(new Set(names));
      setSubject(undefined);
      announce(t(jobsText.finishedRemoved)(names.length));
    },
  });
  const { mutate, isIdle } = remove;
  const end = useCallback(() => {
    if (isIdle) mutate(hidden);
  }, [isIdle, mutate, hidden]);
  useEndOfPage(end, hidden.size > 0);
  const take = ({ name }: Job, subject: string): void => {
    if (!isIdle) remove.reset();
    setHidden((before) => new Set([...before, name]));
    setSubject(hidden.size === 0 ? subject : undefined);
    announce(t(jobsText.removed)(subject));
  };
  return {
    hidden,
    subject,
    isBeginning: find.isPending || remove.isPending,
    isEnding: remove.isPending,
    begin: () => find.mutate(),
    take,
    undo: () => {
      if (!isIdle) return;
      setHidden(none);
      announce(t(jobsText.finishedBack));
    },
    end,
    error: find.error ?? remove.error,
  };
}

/** Ends the removal when the user goes to another page of the console. */
function useEndOfPage(end: () => void, isPending: boolean): void {
  const latest = useRef<() => void>(undefined);
  useEffect(() => {
    latest.current = isPending ? end : undefined;
  });
  useEffect(() => () => latest.current?.(), []);
}

/** The button that takes finished jobs off the list. */
export function RemoveFinished({ isBeginning, begin }: FinishedRemoval) {
  const t = useText();
  return (
    <Button isPending={isBeginning} onPress={begin}>
      {t(jobsText.removeFinished)}
    </Button>
  );
}

/** What was taken off the list, and the button that brings it back; or why it was not removed. */
export function FinishedNote(removal: FinishedRemoval) {
  const { hidden, error } = removal;
  const isRemoved = hidden.size > 0;
  if (isRemoved) return <UndoNote {...removal} />;
  return error ? <ProblemNote error={error} /> : null;
}

function UndoNote({ hidden, subject, isEnding, undo, end }: FinishedRemoval) {
  const t = useText();
  const note = useRef<HTMLDivElement>(null);
  const place = useCallback((element: HTMLDivElement | null) => {
    note.current = element;
    return focusTitleAfter(element);
  }, []);
  const latest = useRef(end);
  useEffect(() => {
    latest.current = end;
  });
  useEffect(() => {
    let left = undoSeconds;
    const timer = setInterval(() => {
      const { current } = note;
      const isUsed = current?.matches(":hover") || current?.querySelector(":focus-visible");
      if (!isUsed) left -= 1;
      if (left === 0) latest.current();
    }, 1_000);
    return () => clearInterval(timer);
    // oxlint-disable-next-line react/exhaustive-effect-dependencies -- each removal has its time
  }, [hidden]);
  return (
    <div className="note" ref={place}>
      <span dir="auto">
        {subject === undefined
          ? t(jobsText.finishedRemoved)(hidden.size)
          : t(jobsText.removed)(subject)}
      </span>
      <Button
        key={hidden.size}
        // oxlint-disable-next-line jsx-a11y/no-autofocus -- the button that was pressed may be gone
        autoFocus
        isPending={isEnding}
        onPress={undo}
      >
        {t(commonText.undo)}
      </Button>
      <Button look="quiet" isPending={isEnding} onPress={end}>
        {t(commonText.close)}
      </Button>
    </div>
  );
}
