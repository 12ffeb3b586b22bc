import { useEffect, useState } from "react";

/** How long after its component is shown the rest is loaded, in ms. */
const loadAfterMs = 1_500;
/** How long after a failure, such as a lost network, loading is tried again, in ms. */
const loadAgainMs = 5_000;

/**
 * Returns what is loaded soon after its component is shown, or at once if it `isWanted`; undefined
 * until then. While it is not `isExpected` it is not loaded. Unlike lazy(), it is there without a
 * delay once it is loaded.
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
    const beginAfter = (ms: number): void => {
      if (isGone) return;
      waiting = window.setTimeout(() => {
        void load().then(
          (found) => {
            if (!isGone) setLoaded(() => found);
          },
          () => beginAfter(loadAgainMs),
        );
      }, ms);
    };
    beginAfter(isWanted ? 0 : loadAfterMs);
    return () => {
      isGone = true;
      clearTimeout(waiting);
    };
  }, [load, isWanted, isExpected]);
  return loaded;
}
