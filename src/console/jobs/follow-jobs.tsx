import { useEffect, useRef } from "react";
import { useLocation } from "wouter";
import { watchJobs } from "../api/account-stream.ts";
import { identityOf } from "../api/session.ts";
import { useSession } from "../api/use-session.ts";
import { setTitlePercent } from "../parts/title-percent.ts";
import { jobNotificationText as texts } from "../text/job-notifications.ts";
import { useText } from "../text/language.tsx";
import { isCancelled, jobOf, listJobs, type Job } from "./job.ts";
import { isNotifying } from "./notifications.ts";

/**
 * Follows the jobs of the account on every page, even if the tab is hidden. The tab's title shows
 * the progress of running jobs, and the browser shows a notification when one ends, if the user has
 * asked for it. Tabs and pages share one stream (api/account-stream.ts).
 */
export function FollowJobs() {
  const owner = identityOf(useSession());
  const onEnd = useLatest(useNotification());
  useEffect(() => {
    const running = new Map<string, number>();
    const ended = new Set<string>();
    const gone = new AbortController();
    const take = (jobs: readonly Job[], { isNews }: { readonly isNews: boolean }): void => {
      for (const job of jobs) {
        const { name, state } = job;
        if (state.kind !== "PROCESSING") {
          // A list has the end of a job that was seen to run if its change was missed.
          const isEnd = running.delete(name) || isNews;
          if (isEnd && !ended.has(name)) onEnd.current(job);
          ended.add(name);
        } else if (!ended.has(name)) running.set(name, state.percent);
      }
      setTitlePercent(meanOf([...running.values()]));
    };
    const stop = watchJobs(owner, {
      // A short job may have ended before it is seen to run.
      onJobs: (jobs) => take(jobs.map(jobOf), { isNews: true }),
      onLive(isLive) {
        // What has changed before the watch began is not sent.
        if (isLive) {
          void listJobs("", gone.signal).then(
            ({ jobs }) => take(jobs, { isNews: false }),
            () => {
              // The watch sends the next changes.
            },
          );
        }
      },
    });
    return () => {
      stop();
      gone.abort();
      setTitlePercent(undefined);
    };
  }, [owner, onEnd]);
  return null;
}

/** Returns a function that shows a notification about a job that has ended in a hidden tab. */
function useNotification(): (job: Job) => void {
  const t = useText();
  const [, goTo] = useLocation();
  return ({ name, state }) => {
    if (!document.hidden || !isNotifying() || state.kind === "PROCESSING") return;
    if (state.kind === "FAILED" && isCancelled(state.code)) return;
    const isReady = state.kind === "SUCCESS";
    // It has neither title nor text of a transcript: notifications are seen by others, too. The
    // browser shows one for each tag, so that several tabs show it once.
    const shown = new Notification(t(isReady ? texts.ready : texts.notReady), {
      body: t(texts.body),
      tag: name,
    });
    shown.addEventListener("click", () => {
      window.focus();
      goTo(isReady ? `/${state.transcript}` : "/jobs");
      shown.close();
    });
  };
}

function useLatest<Value>(value: Value) {
  const latest = useRef(value);
  useEffect(() => {
    latest.current = value;
  });
  return latest;
}

function meanOf(percents: readonly number[]): number | undefined {
  if (percents.length === 0) return undefined;
  return percents.reduce((sum, percent) => sum + percent, 0) / percents.length;
}
