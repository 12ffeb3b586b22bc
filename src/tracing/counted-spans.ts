import { ExportResultCode } from "@opentelemetry/core";
import type { ReadableSpan, SpanExporter, SpanProcessor } from "@opentelemetry/sdk-trace";
import type { Log } from "../std/log.ts";

const reportEveryMs = 60_000;

/** The flag of a span that is exported (W3C Trace Context, 3.2.2.5.1). */
const sampledFlag = 1;

/**
 * Counts the spans that are dropped, because too many wait or because they cannot be sent; the
 * library drops them silently. The log has their number at most once a minute.
 */
export class CountedSpans {
  readonly exporter: SpanExporter;
  readonly #queueMax: number;
  readonly #log: Log;
  #waiting = 0;
  #dropped = 0;
  #reported = 0;
  #reportedAt = -Infinity;

  constructor(
    exporter: SpanExporter,
    { queueMax, log }: { readonly queueMax: number; readonly log: Log },
  ) {
    this.#queueMax = queueMax;
    this.#log = log;
    this.exporter = {
      export: (spans, done) => {
        this.#waiting -= spans.length;
        exporter.export(spans, (result) => {
          if (result.code !== ExportResultCode.SUCCESS) this.#drop(spans.length);
          done(result);
        });
      },
      shutdown: () => exporter.shutdown(),
      forceFlush: async () => await exporter.forceFlush?.(),
    };
  }

  get dropped(): number {
    return this.#dropped;
  }

  /** Returns a processor that passes on only as many spans as may wait. */
  before(next: SpanProcessor): SpanProcessor {
    return {
      onStart: (...started) => next.onStart(...started),
      onEnd: (span: ReadableSpan) => {
        if ((span.spanContext().traceFlags & sampledFlag) === 0) return;
        if (this.#waiting >= this.#queueMax) {
          this.#drop(1);
          return;
        }
        this.#waiting += 1;
        next.onEnd(span);
      },
      forceFlush: () => next.forceFlush(),
      shutdown: () => next.shutdown(),
    };
  }

  /** Logs the number of spans that were dropped since the last report, if there are any. */
  report(): void {
    const count = this.#dropped - this.#reported;
    if (count === 0) return;
    this.#reported = this.#dropped;
    this.#log.warn({ count }, "traces.dropped");
  }

  #drop(count: number): void {
    this.#dropped += count;
    if (performance.now() < this.#reportedAt + reportEveryMs) return;
    this.#reportedAt = performance.now();
    this.report();
  }
}
