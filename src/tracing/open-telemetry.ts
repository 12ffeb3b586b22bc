// This file and counted-spans.ts are the only ones that load OpenTelemetry. Only openTracing()
// loads them.
import {
  isSpanContextValid,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  type SpanContext,
  type Tracer,
} from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { resourceFromAttributes } from "@opentelemetry/resources";
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
  type Sampler,
} from "@opentelemetry/sdk-trace";
import type { Log } from "../std/log.ts";
import { CountedSpans } from "./counted-spans.ts";
import type { Span, SpanOptions, SpanSource } from "./tracing.ts";
import type { TracingOptions } from "./tracing-options.ts";

/** The time that spans have to be sent when the process ends. */
const flushMsMax = 2_000;
const batchMax = 512;

export interface Spans extends SpanSource {
  readonly dropped: number;
  flush(): Promise<void>;
  close(): Promise<void>;
}

/** Opens the SDK, with one processor that sends spans in batches. */
export function openSpans(options: TracingOptions, log: Log): Spans {
  const { url, timeoutMs: timeoutMillis, queueMax, delayMs } = options;
  const headers = { ...options.headers };
  const exporter = new OTLPTraceExporter({ url, headers, timeoutMillis });
  const counted = new CountedSpans(exporter, { queueMax, log });
  const batches = new BatchSpanProcessor({
    exporter: counted.exporter,
    maxQueueSize: queueMax,
    maxExportBatchSize: Math.min(batchMax, queueMax),
    scheduledDelayMillis: delayMs,
    exportTimeoutMillis: timeoutMillis,
  });
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ ...options.resource }),
    sampler: samplerOf(options),
    spanProcessors: [counted.before(batches)],
  });
  const tracer = provider.getTracer("hlust");
  const flush = async (): Promise<void> => {
    // A failed export has been counted.
    await provider.forceFlush({ timeoutMillis: flushMsMax }).catch(() => {});
  };
  return {
    start: (name, spanOptions) => startWith(tracer, name, spanOptions),
    get dropped() {
      return counted.dropped;
    },
    flush,
    async close() {
      await flush();
      counted.report();
      provider.shutdown().catch(() => {});
    },
  };
}

function samplerOf({ sampler, samplerRatio }: TracingOptions): Sampler {
  const root = sampler.endsWith("always_on")
    ? new AlwaysOnSampler()
    : sampler.endsWith("always_off")
      ? new AlwaysOffSampler()
      : new TraceIdRatioBasedSampler(samplerRatio);
  return sampler.startsWith("parentbased_") ? new ParentBasedSampler({ root }) : root;
}

const kinds = {
  internal: SpanKind.INTERNAL,
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  consumer: SpanKind.CONSUMER,
} as const;

function startWith(tracer: Tracer, name: string, options: SpanOptions): Span {
  const { kind = "internal", parent, attributes, startMs } = options;
  const from = parent ? contextOf(parent) : undefined;
  const span = tracer.startSpan(
    name,
    {
      kind: kinds[kind],
      ...(attributes && { attributes: { ...attributes } }),
      ...(startMs !== undefined && { startTime: startMs }),
    },
    from ? trace.setSpanContext(ROOT_CONTEXT, from) : ROOT_CONTEXT,
  );
  const { traceId, spanId, traceFlags } = span.spanContext();
  let isEnded = false;
  return {
    traceId,
    spanId,
    traceparent: `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, "0")}`,
    get isEnded() {
      return isEnded;
    },
    rename: (other) => void span.updateName(other),
    set: (facts) => void span.setAttributes({ ...facts }),
    fail(reason) {
      span.setAttribute("error.type", reason).setStatus({ code: SpanStatusCode.ERROR });
    },
    end() {
      if (!isEnded) span.end();
      isEnded = true;
    },
  };
}

/** The form of a traceparent (W3C Trace Context, 3.2): later versions may append fields. */
const traceparentForm = /^(?!ff)[\da-f]{2}-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(?:-|$)/;

function contextOf(traceparent: string): SpanContext | undefined {
  const [, traceId = "", spanId = "", flags = "00"] = traceparentForm.exec(traceparent) ?? [];
  const traceFlags = Number.parseInt(flags, 16);
  const context = { traceId, spanId, traceFlags, isRemote: true };
  return isSpanContextValid(context) ? context : undefined;
}
