import { useCallback, useEffect, useRef, useState } from "react";
import { useLoaded } from "../../use-loaded.ts";
import type { Commands } from "./commands.ts";

/** How long what follows waits for the code of a pressed key, in ms. */
const waitMs = 5_000;

/**
 * Loads the code of keys when it is wanted, or when one of them is pressed. Returns the code once
 * it is there, and a function that passes it to what a key does: at once, or as soon as it is
 * loaded. Undo and saving wait for it, so that all is done in the order of the keys; a key whose
 * code does not come in time is not done.
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
  const endWait = useRef<() => void>(undefined);
  useEffect(() => {
    latest.current = loaded;
    if (loaded !== undefined) endWait.current?.();
  }, [loaded]);
  useEffect(() => () => endWait.current?.(), []);
  const withLoaded = useCallback(
    (act: (loaded: Loaded) => void) => {
      if (latest.current === undefined) {
        endWait.current ??= waitIn(commands, () => (endWait.current = undefined));
        setPressed(true);
      }
      commands.inOrder(() => {
        if (latest.current !== undefined) act(latest.current);
      });
    },
    [commands],
  );
  return { loaded, withLoaded };
}

/** Holds commands until the returned function is called, for some seconds at most. */
function waitIn(commands: Commands, ended: () => void): () => void {
  const release = commands.hold();
  const end = (): void => {
    clearTimeout(timer);
    ended();
    release();
  };
  const timer = setTimeout(end, waitMs);
  return end;
}
