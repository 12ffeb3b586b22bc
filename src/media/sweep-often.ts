import { errorFields, type Log } from "../std/log.ts";
import { within } from "../std/within.ts";

/** How long a sweep that is told to stop is waited for. */
const stopMsMax = 2_000;

/** Sweeps at once and then now and then, one at a time, until it is disposed of. */
export function sweepOften(
  sweep: (signal: AbortSignal) => Promise<void>,
  { everyMs, log }: { readonly everyMs: number; readonly log: Log },
): AsyncDisposable {
  const stop = new AbortController();
  let running: Promise<void> | undefined;
  const run = () => {
    running ??= sweep(stop.signal)
      .catch((error: unknown) => {
        if (!stop.signal.aborted) log.warn(errorFields(error), "media.sweep_failed");
      })
      .finally(() => {
        running = undefined;
      });
  };
  run();
  const timer = setInterval(run, everyMs);
  timer.unref();
  return {
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      stop.abort(new Error("the sweep stops"));
      if (running) await within(stopMsMax, running);
    },
  };
}
