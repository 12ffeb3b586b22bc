import { useSyncExternalStore } from "react";

type Retry = () => void;

let retries: readonly Retry[] = [];
const listeners = new Set<() => void>();

function change(after: readonly Retry[]): void {
  retries = after;
  for (const listener of listeners) listener();
}

/**
 * Reports that a part of the page could not be loaded, and how to load it again. Returns a function
 * that takes the report back.
 */
export function reportLoadProblem(retry: Retry): () => void {
  change([...retries, retry]);
  return () => change(retries.filter((each) => each !== retry));
}

/** Returns the functions that load again what could not be loaded. */
export function useLoadProblems(): readonly Retry[] {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => retries,
  );
}

const failedStyles = new Set<string>();

/** Remembers style sheets that could not be loaded, for loadChunk(). */
export function watchStyles(): void {
  const remember = ({ target }: Event): void => {
    if (!(target instanceof HTMLLinkElement) || target.rel !== "stylesheet") return;
    failedStyles.add(target.href);
    target.remove();
  };
  document.addEventListener("error", remember, { capture: true });
}

/**
 * Loads a chunk by its import(). Style sheets that failed before are loaded first: import() itself
 * tries each only once, and the chunk would be shown without its styles.
 */
export async function loadChunk<Chunk>(load: () => Promise<Chunk>): Promise<Chunk> {
  await Promise.all(Array.from(failedStyles, loadStyles));
  return await load();
}

async function loadStyles(href: string): Promise<void> {
  failedStyles.delete(href);
  const link = document.createElement("link");
  link.rel = "stylesheet";
  link.href = href;
  await new Promise<void>((resolve, reject) => {
    link.addEventListener("load", () => resolve());
    link.addEventListener("error", () => reject(new Error(`${href} cannot be loaded`)));
    document.head.append(link);
  });
}
