import { useSyncExternalStore } from "react";

let current: number | undefined;
const listeners = new Set<() => void>();

/**
 * Sets the progress that the titles of all pages show, 0 to 100; undefined while no job is running.
 */
export function setTitlePercent(percent: number | undefined): void {
  if (percent === current) return;
  current = percent;
  for (const listener of listeners) listener();
}

/** Returns what setTitlePercent() has set. */
export function useTitlePercent(): number | undefined {
  return useSyncExternalStore(subscribe, () => current);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
