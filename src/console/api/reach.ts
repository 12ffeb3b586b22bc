import type { QueryClient } from "@tanstack/react-query";
import { useSyncExternalStore } from "react";

/**
 * How long after a call without an answer the service is asked whether it is there: longer each
 * time, up to the last.
 */
const probeMs = [1_000, 2_000, 4_000, 8_000] as const;

let isReachable = true;
let timer: ReturnType<typeof setTimeout> | undefined;
let probes = 0;
const listeners = new Set<() => void>();

/** Whether the service was heard of when it was last called. */
export function useIsReachable(): boolean {
  return useSyncExternalStore(subscribe, () => isReachable);
}

/**
 * Tells how a call went: whether any answer came. Until one comes again, the service is asked by
 * itself.
 */
export function noteAnswer(hasCome: boolean): void {
  if (hasCome) {
    clearTimeout(timer);
    probes = 0;
  } else probeLater();
  if (isReachable === hasCome) return;
  isReachable = hasCome;
  for (const tell of listeners) tell();
}

/**
 * Reads again what is shown as soon as the service is back; the browser says when its network goes
 * and comes.
 */
export function watchReach(queries: QueryClient): void {
  addEventListener("offline", () => {
    noteAnswer(false);
  });
  addEventListener("online", () => void probe());
  subscribe(() => {
    if (isReachable) void queries.invalidateQueries();
  });
}

function probeLater(): void {
  clearTimeout(timer);
  timer = setTimeout(() => void probe(), probeMs[Math.min(probes, probeMs.length - 1)]);
}

async function probe(): Promise<void> {
  probes += 1;
  await fetch("/healthz", { cache: "no-store" }).then(
    () => {
      noteAnswer(true);
    },
    () => {
      noteAnswer(false);
    },
  );
}

function subscribe(tell: () => void): () => void {
  listeners.add(tell);
  return () => listeners.delete(tell);
}
