import { useCallback, useEffect, useRef, useState } from "react";
import { useLoaded } from "../../use-loaded.ts";
import type { Commands } from "./commands.ts";

/** How long other commands wait for the code of a pressed key, in ms. */
const waitMs = 5_000;

/** A key that was pressed before its code was there. */
interface Waiting<Loaded> {
  readonly act: (loaded: Loaded) => void;
  readonly release: () => void;
}

/**
 * Loads the code of keys when it is wanted, or when one of them is pressed. Returns the code once
 * it is there, and a function that passes it to what a key does: at once, or as soon as it is
 * loaded. All other commands wait for it, so that they are done in the order of the keys; a key
 * whose code does not come in time is not done.
 */
export function useLateKeys<Loaded>(
  commands: Commands,
  load: () => Promise<Loaded>,
  isWanted = false,
): {
  readonly loaded: Loaded | undefined;
  readonly withLoaded: (act: (loaded: Loaded) => void) => void;
} {
  const [isPressed, setPressed] = useState(false);
  const loaded = useLoaded(load, isWanted || isPressed);
  const latest = useRef<Loaded>(undefined);
  const waiting = useRef<Waiting<Loaded>>(undefined);
  const end = useCallback(() => {
    const { act, release } = waiting.current ?? {};
    waiting.current = undefined;
    if (latest.current !== undefined) act?.(latest.current);
    release?.();
  }, []);
  useEffect(() => {
    latest.current = loaded;
    if (loaded !== undefined) end();
  }, [loaded, end]);
  useEffect(() => end, [end]);
  const withLoaded = useCallback(
    (act: (loaded: Loaded) => void) => {
      if (latest.current !== undefined) {
        act(latest.current);
        return;
      }
      const releaseCommands = commands.hold();
      const timer = setTimeout(end, waitMs);
      waiting.current = {
        act,
        release: () => {
          clearTimeout(timer);
          releaseCommands();
        },
      };
      setPressed(true);
    },
    [commands, end],
  );
  return { loaded, withLoaded };
}
