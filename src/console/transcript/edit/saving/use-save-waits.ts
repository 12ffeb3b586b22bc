import { useCallback, useEffect, useRef, useState } from "react";
import { ApiError } from "../../../api/api-error.ts";
import { isRetryable } from "../../../api/call-api.ts";
import { Pause } from "../../../upload/pause.ts";

/** A save that could not be done yet, and is tried again. */
export interface SaveWait {
  readonly error: ApiError;
  /** How long it waits, in seconds. */
  readonly seconds: number;
  readonly tryNow: () => void;
  readonly stop: () => void;
}

/** The longest wait between attempts, if the service does not specify one, in ms. */
const pauseMsMax = 30_000;

/**
 * Returns a function that repeats `save`, as it is by then, while the service cannot be reached, is
 * busy or refuses more calls for now, and the current wait. The service's own waiting times are
 * kept; without one, the waits are 1 s, 2 s, 4 s, ... up to 30 s, and end when the network is back.
 * When the text is closed or the waiting is stopped, the last error is thrown.
 */
export function useSaveWaits<Done>(save: () => Promise<Done>): {
  readonly wait: SaveWait | undefined;
  readonly waitOut: () => Promise<Done>;
} {
  const [wait, setWait] = useState<SaveWait>();
  const closing = useRef(new AbortController());
  useEffect(() => {
    closing.current = new AbortController();
    return () => closing.current.abort();
  }, []);
  const latest = useRef(save);
  useEffect(() => {
    latest.current = save;
  });
  const waitOut = useCallback(async (): Promise<Done> => {
    for (let failures = 0; ; failures++) {
      try {
        return await latest.current();
      } catch (error) {
        if (!(error instanceof ApiError) || !isTemporary(error)) throw error;
        const ms = error.retryAfterMs ?? Math.min(1_000 * 2 ** failures, pauseMsMax);
        await waited({ error, ms, closed: closing.current.signal, onWait: setWait });
      } finally {
        setWait(undefined);
      }
    }
  }, []);
  return { wait, waitOut };
}

function isTemporary(error: ApiError): boolean {
  return isRetryable(error) || error.retryAfterMs !== undefined;
}

async function waited({
  error,
  ms,
  closed,
  onWait,
}: {
  readonly error: ApiError;
  readonly ms: number;
  readonly closed: AbortSignal;
  readonly onWait: (wait: SaveWait) => void;
}): Promise<void> {
  const pause = new Pause();
  const stopping = new AbortController();
  onWait({
    error,
    seconds: Math.ceil(ms / 1_000),
    tryNow: () => pause.end(),
    stop: () => stopping.abort(),
  });
  try {
    await pause.wait(ms, AbortSignal.any([closed, stopping.signal]));
  } catch {
    throw error;
  }
}
