import { useEffect, useRef, useState, useSyncExternalStore } from "react";
import type { Job } from "./job.ts";
import { watchJob } from "./watch-job.ts";

/**
 * A browser has six connections to a service of HTTP/1.1: some have to be left for calls and files.
 */
const watchesMax = 4;

/**
 * Watches the first few of these jobs, while somebody looks at the page. Answers those that
 * something is heard of.
 */
export function useWatches(
  names: readonly string[],
  onJob: (job: Job) => void,
): ReadonlySet<string> {
  const isLookedAt = useSyncExternalStore(listenToLooks, () => !document.hidden);
  const watches = useRef(new Map<string, () => void>());
  const [heard, setHeard] = useState<ReadonlySet<string>>(() => new Set());
  const key = isLookedAt ? names.slice(0, watchesMax).join(" ") : "";
  useEffect(() => {
    const note = (name: string, isHeard: boolean): void =>
      setHeard((heard) => (heard.has(name) === isHeard ? heard : changed(heard, name, isHeard)));
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
      setHeard(new Set());
    };
  }, []);
  return heard;
}

function changed(names: ReadonlySet<string>, name: string, isIn: boolean): ReadonlySet<string> {
  const next = new Set(names);
  if (isIn) next.add(name);
  else next.delete(name);
  return next;
}

function listenToLooks(listener: () => void): () => void {
  document.addEventListener("visibilitychange", listener);
  return () => document.removeEventListener("visibilitychange", listener);
}
