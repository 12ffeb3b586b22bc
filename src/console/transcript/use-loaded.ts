import { useEffect, useState } from "react";
import { loadChunk, reportLoadProblem } from "../parts/load-problems.ts";

/** How long after its component is shown the rest is loaded, in ms. */
const loadAfterMs = 1_500;
/** How long after a failure, such as a lost network, loading is tried again, in ms. */
const loadAgainMs = 5_000;

/**
 * Returns what is loaded soon after its component is shown, or at once if it `isWanted`; undefined
 * until then. While it is not `isExpected` it is not loaded. It is there without a delay once it is
 * loaded. A failure is repeated, and LoadProblem says so if what is missing `isWanted`.
 */
export function useLoaded<Loaded>(
  load: () => Promise<Loaded>,
  isWanted: boolean,
  isExpected = true,
): Loaded | undefined {
  const [loaded, setLoaded] = useState<Loaded>();
  useEffect(() => {
    if (!isWanted && !isExpected) return undefined;
    let isGone = false;
    let waiting: number | undefined;
    let takeBack: (() => void) | undefined;
    const beginAfter = (ms: number): void => {
      if (isGone) return;
      clearTimeout(waiting);
      waiting = window.setTimeout(() => {
        void loadChunk(load).then(
          (found) => {
            if (isGone) return;
            takeBack?.();
            setLoaded(() => found);
          },
          () => {
            if (isWanted && !isGone) takeBack ??= reportLoadProblem(() => beginAfter(0));
            beginAfter(loadAgainMs);
          },
        );
      }, ms);
    };
    beginAfter(isWanted ? 0 : loadAfterMs);
    return () => {
      isGone = true;
      clearTimeout(waiting);
      takeBack?.();
    };
  }, [load, isWanted, isExpected]);
  return loaded;
}
