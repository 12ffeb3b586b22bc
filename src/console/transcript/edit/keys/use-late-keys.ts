import { useCallback, useEffect, useRef, useState } from "react";
import { useLoaded } from "../../use-loaded.ts";

/**
 * Loads the code of keys when it is wanted, or when one of them is pressed. Returns the code once
 * it is there, and a function that passes it to what a key does: at once, or as soon as it is
 * loaded, in the order of the keys.
 */
export function useLateKeys<Loaded>(
  load: () => Promise<Loaded>,
  isWanted = false,
): {
  readonly loaded: Loaded | undefined;
  readonly withLoaded: (act: (loaded: Loaded) => void) => void;
} {
  const [isPressed, setPressed] = useState(false);
  const loaded = useLoaded(load, isWanted || isPressed);
  const waiting = useRef<((loaded: Loaded) => void)[]>([]);
  useEffect(() => {
    if (loaded) for (const act of waiting.current.splice(0)) act(loaded);
  }, [loaded]);
  const withLoaded = useCallback(
    (act: (loaded: Loaded) => void) => {
      if (loaded) {
        act(loaded);
        return;
      }
      waiting.current.push(act);
      setPressed(true);
    },
    [loaded],
  );
  return { loaded, withLoaded };
}
