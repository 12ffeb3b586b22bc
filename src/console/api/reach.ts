import type { QueryClient } from "@tanstack/react-query";
import { useSyncExternalStore } from "react";

/** The increasing delays after which an unreachable service is probed; the last one repeats. */
const probeMs = [1_000, 2_000, 4_000, 8_000] as const;

let isReachable = true;
let timer: ReturnType<typeof setTimeout> | undefined;
let probes = 0;
const listeners = new Set<() => void>();

/** Returns whether the service responded to the last call. */
export function useIsReachable(): boolean {
  return useSyncExternalStore(subscribe, () => isReachable);
}

/**
 * Records whether a call received any response. After a call without a response, the service is
 * probed until it responds again.
 */
export function noteAnswer(hasCome: boolean): void {
  if (hasCome) {
    clearTimeout(timer);
    probes = 0;
  } else probeLater();
  if (isReachable === hasCome) return;
  isReachable = hasCome;
  for (const listener of listeners) listener();
}

/**
 * Refetches what is shown as soon as the service can be reached again. The browser reports when its
 * network is lost and restored.
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

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
