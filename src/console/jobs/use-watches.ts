import { useEffect, useRef, useState, useSyncExternalStore } from "react";
import type { Job } from "./job.ts";
import { watchJob } from "./watch-job.ts";

/**
 * The maximum number of watches. Over HTTP/1.1, a browser has six connections to the service, and
 * some must stay free for calls and uploads.
 */
const watchesMax = 4;

/**
 * Watches the first few of these jobs while the page is visible. Returns the names of the jobs
 * whose watch delivers updates.
 */
export function useWatches(
  names: readonly string[],
  onJob: (job: Job) => void,
): ReadonlySet<string> {
  const isVisible = useSyncExternalStore(subscribeToVisibility, () => !document.hidden);
  const watches = useRef(new Map<string, () => void>());
  const [live, setLive] = useState<ReadonlySet<string>>(() => new Set());
  const key = isVisible ? names.slice(0, watchesMax).join(" ") : "";
  useEffect(() => {
    const note = (name: string, isLive: boolean): void =>
      setLive((live) => (live.has(name) === isLive ? live : changed(live, name, isLive)));
    const wanted = new Set(key === "" ? [] : key.split(" "));
    for (const [name, stop] of watches.current) {
      if (wanted.has(name)) continue;
      stop();
      watches.current.delete(name);
      note(name, false);
    }
    for (const name of wanted) {
      if (watches.current.has(name)) continue;
      const stop = watchJob(name, {
        onJob(job) {
          note(name, true);
          onJob(job);
        },
        onBroken: () => note(name, false),
      });
      watches.current.set(name, stop);
    }
  }, [key, onJob]);
  useEffect(() => {
    const all = watches.current;
    return () => {
      for (const stop of all.values()) stop();
      all.clear();
      setLive(new Set());
    };
  }, []);
  return live;
}

function changed(names: ReadonlySet<string>, name: string, isIn: boolean): ReadonlySet<string> {
  const next = new Set(names);
  if (isIn) next.add(name);
  else next.delete(name);
  return next;
}

function subscribeToVisibility(listener: () => void): () => void {
  document.addEventListener("visibilitychange", listener);
  return () => document.removeEventListener("visibilitychange", listener);
}
