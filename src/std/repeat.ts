import { setTimeout as sleep } from "node:timers/promises";
import { errorFields, type Log } from "./log.ts";
import { within } from "./within.ts";

export interface RepeatOptions {
  /** The wait after each run. */
  readonly everyMs: number;
  /** The wait before the first run. Default: 0. */
  readonly firstAfterMs?: number;
  /** The wait after a run that failed. Default: everyMs. */
  readonly afterFailureMs?: number;
  readonly log: Log;
  /** The log event of a failure. */
  readonly event: string;
  /**
   * Whether a failure is logged as a warning instead of an error. Default: always; see
   * isDatabaseTrouble().
   */
  readonly isWarning?: (error: unknown) => boolean;
  /** Whether only the first of several consecutive failures is logged. Default: all are logged. */
  readonly logsFirstOnly?: boolean;
}

/**
 * Runs `act` repeatedly until the signal aborts, one run after the other. Resolves when the last
 * run has ended. A failed run is logged, but a failure after the abort is ignored. The waits do not
 * keep the process alive.
 */
export async function repeat(
  options: RepeatOptions & { readonly signal: AbortSignal },
  act: () => Promise<unknown>,
): Promise<void> {
  const { everyMs, firstAfterMs = 0, afterFailureMs = everyMs, logsFirstOnly = false } = options;
  const { log, event, isWarning = () => true, signal } = options;
  const wait = async (ms: number): Promise<void> => {
    await sleep(ms, undefined, { signal, ref: false }).catch(() => {});
  };
  if (firstAfterMs > 0) await wait(firstAfterMs);
  for (let hasFailed = false; !signal.aborted;) {
    try {
      await act();
      hasFailed = false;
      if (everyMs > 0) await wait(everyMs);
    } catch (error) {
      if (signal.aborted) return;
      const isLogged = !(logsFirstOnly && hasFailed);
      if (isLogged) log[isWarning(error) ? "warn" : "error"](errorFields(error), event);
      hasFailed = true;
      await wait(afterFailureMs);
    }
  }
}

/**
 * Runs repeat() until it is disposed of. Disposing aborts the signal of the run and waits for the
 * run to end, for at most `stopMsMax`. Default: no limit.
 */
export function openRepeat(
  options: RepeatOptions & { readonly stopMsMax?: number },
  act: (signal: AbortSignal) => Promise<unknown>,
): AsyncDisposable {
  const { stopMsMax } = options;
  const stop = new AbortController();
  const { signal } = stop;
  const loop = repeat({ ...options, signal }, async () => act(signal));
  return {
    async [Symbol.asyncDispose]() {
      stop.abort(new Error(`stopped: ${options.event}`));
      if (stopMsMax === undefined) await loop;
      else await within(stopMsMax, loop);
    },
  };
}
