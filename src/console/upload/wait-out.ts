import { ApiError } from "../api/api-error.ts";
import { mayPass } from "../api/call-api.ts";
import type { Pause } from "./pause.ts";

/**
 * Does something until it is done: what can pass is waited out, as the network gone, the service
 * away, a session that ended. Rejects with what no other try would help, or with the signal's
 * reason. `pause`: end() tries again now.
 */
export async function waitOut<Done>(
  work: () => Promise<Done>,
  options: {
    readonly signal: AbortSignal;
    readonly pause: Pause;
    readonly onWait: (error: ApiError) => void;
  },
): Promise<Done> {
  const { signal, pause, onWait } = options;
  for (let failures = 0; ; failures++) {
    try {
      return await work();
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof ApiError) || !isPassing(error)) throw error;
      onWait(error);
      await pause.wait(error.reason === "SIGNED_OUT" ? Infinity : pauseMs(failures), signal);
    }
  }
}

const passingReasons: ReadonlySet<string> = new Set([
  "SIGNED_OUT",
  "SESSION_CHANGED",
  "TOO_MANY_REQUESTS",
]);

function isPassing(error: ApiError): boolean {
  return mayPass(error) || error.status === 408 || passingReasons.has(error.reason);
}

/** A second, two, four ... half a minute. */
function pauseMs(failures: number): number {
  return Math.min(1000 * 2 ** failures, 30_000);
}
