import { ApiError } from "../api/api-error.ts";
import { isRetryable } from "../api/call-api.ts";
import type { Pause } from "./pause.ts";

/**
 * Retries `work` until it succeeds, if the errors are temporary: no network, an unavailable
 * service, or an expired session. Rejects with other errors, for which another attempt would not
 * help, or with the signal's reason. `pause`: its end() starts the next attempt immediately.
 */
export async function waitOut<Done>(
  work: () => Promise<Done>,
  options: {
    readonly signal: AbortSignal;
    readonly pause: Pause;
    readonly onWait: (error: ApiError) => void;
    /** Returns how far the work is. After progress, the next delay is short again. */
    readonly progress?: () => number;
  },
): Promise<Done> {
  const { signal, pause, onWait, progress = () => 0 } = options;
  let reached = progress();
  for (let failures = 0; ; failures++) {
    try {
      return await work();
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof ApiError) || !isTemporary(error)) throw error;
      if (progress() > reached) failures = 0;
      reached = progress();
      onWait(error);
      await pause.wait(error.reason === "SIGNED_OUT" ? Infinity : pauseMs(failures), signal);
    }
  }
}

const temporaryReasons: ReadonlySet<string> = new Set([
  "SIGNED_OUT",
  "SESSION_CHANGED",
  "TOO_MANY_REQUESTS",
  // The service has more or fewer bytes than the page knows: the next attempt finds out.
  "OFFSET_MISMATCH",
  "UPLOAD_TAKEN_OVER",
  "UPLOAD_EXPIRED",
]);

function isTemporary(error: ApiError): boolean {
  return isRetryable(error) || error.status === 408 || temporaryReasons.has(error.reason);
}

/** The time before the next attempt: 1 s, 2 s, 4 s, ... up to 30 s. */
function pauseMs(failures: number): number {
  return Math.min(1000 * 2 ** failures, 30_000);
}
