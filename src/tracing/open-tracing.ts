import type { Log } from "../std/log.ts";
import { useSpanSource } from "./tracing.ts";
import type { TracingOptions } from "./tracing-options.ts";

/** The sending of spans. Disposing of it sends those that wait, within seconds. */
export interface Tracing extends AsyncDisposable {
  /** The number of spans that were dropped: too many waited, or they could not be sent. */
  readonly dropped: number;
  /** Sends the spans that wait, or drops them. */
  flush(): Promise<void>;
}

/**
 * Loads OpenTelemetry and sends the spans of this process. Spans are sent in the background: an
 * endpoint that is slow or unavailable delays nothing, and its spans are dropped.
 */
export async function openTracing(options: TracingOptions, log: Log): Promise<Tracing> {
  const { openSpans } = await import("./open-telemetry.ts");
  const spans = openSpans(options, log);
  const used = useSpanSource(spans);
  return {
    get dropped() {
      return spans.dropped;
    },
    flush: () => spans.flush(),
    async [Symbol.asyncDispose]() {
      used[Symbol.dispose]();
      await spans.close();
    },
  };
}
