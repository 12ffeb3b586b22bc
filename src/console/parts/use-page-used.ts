import { useSyncExternalStore } from "react";

/** What a user does with a page. A page that is opened in the background has none of these. */
const kinds = ["pointermove", "pointerdown", "keydown", "wheel"] as const;

let isUsed = false;

/** Returns whether the user has used the console since it was loaded. */
export function usePageUsed(): boolean {
  return useSyncExternalStore(onFirstUse, () => isUsed);
}

function onFirstUse(notify: () => void): () => void {
  const ended = new AbortController();
  const use = (): void => {
    isUsed = true;
    ended.abort();
    notify();
  };
  const options = { capture: true, passive: true, signal: ended.signal };
  if (!isUsed) for (const kind of kinds) addEventListener(kind, use, options);
  return () => ended.abort();
}
