import { AsyncLocalStorage } from "node:async_hooks";
import { ServiceError } from "../std/service-error.ts";

/** Facts about a span. Never text, tokens, queries of URLs or names of files. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

export interface SpanOptions {
  /** Default: internal. */
  readonly kind?: "internal" | "server" | "client" | "consumer";
  /**
   * The traceparent (W3C Trace Context) of the parent; undefined or null for the current span. A
   * value that is not a traceparent begins a trace.
   */
  readonly parent?: string | null | undefined;
  readonly attributes?: SpanAttributes;
  /** The beginning, in milliseconds since 1970. Default: now. */
  readonly startMs?: number;
}

/** A step of a trace. A span that has ended ignores everything else. */
export interface Span {
  readonly traceId: string;
  readonly spanId: string;
  /** The span as the parent of spans in other processes. */
  readonly traceparent: string;
  readonly isEnded: boolean;
  rename(name: string): void;
  set(attributes: SpanAttributes): void;
  /** Marks the span as failed, with a reason from a closed list (error.type). */
  fail(reason: string): void;
  end(): void;
}

/** What makes spans: the SDK of OpenTelemetry, which openTracing() loads. */
export interface SpanSource {
  start(name: string, options: SpanOptions): Span;
}

/** What the access log states about a call, noted as it becomes known. */
export interface CallNote {
  /** The method of the contract, package.Service/Method, or else that of HTTP. */
  method?: string;
  protocol?: string;
  /** The google.rpc.Code in lower case; undefined if nothing failed. */
  code?: string;
  accountId?: string;
}

/** What code that runs for a call or a job can know about it. */
interface Ambient {
  readonly requestId?: string;
  readonly span?: Span | undefined;
  /** Undefined if there is no access log. */
  readonly note?: CallNote | undefined;
}

const ambient = new AsyncLocalStorage<Ambient>();
let source: SpanSource | undefined;

/** Makes all of the process's spans come from `next` until it is disposed of. */
export function useSpanSource(next: SpanSource): Disposable {
  source = next;
  return {
    [Symbol.dispose]() {
      if (source === next) source = undefined;
    },
  };
}

/** Whether spans are made. If not, nothing of OpenTelemetry is loaded. */
export function isTracing(): boolean {
  return source !== undefined;
}

/** Starts a span, which the caller ends; undefined if there is no tracing. */
export function startSpan(name: string, options: SpanOptions = {}): Span | undefined {
  if (source === undefined) return undefined;
  const parent = options.parent ?? ambient.getStore()?.span?.traceparent;
  return source.start(name, { ...options, parent });
}

/**
 * Runs something as a span, which is the parent of all spans that start within it. The span fails
 * with the reason of the error, if there is one.
 */
export async function traced<T>(
  name: string,
  options: SpanOptions,
  run: (span: Span | undefined) => Promise<T>,
): Promise<T> {
  const span = startSpan(name, options);
  if (span === undefined) return await run(undefined);
  try {
    return await within({ span }, () => run(span));
  } catch (error) {
    span.fail(reasonOf(error));
    throw error;
  } finally {
    span.end();
  }
}

/**
 * Makes a span of the time that something has waited in a queue until now, in the trace in which it
 * was queued.
 */
export function traceWait(
  name: string,
  { parent, waitedMs }: { readonly parent: string | null; readonly waitedMs: number },
): void {
  if (parent === null) return;
  startSpan(name, { parent, startMs: Date.now() - Math.max(0, waitedMs) })?.end();
}

/** Runs something for a request or in a span: log lines and spans within it name them. */
export function within<T>(added: Ambient, run: () => T): T {
  return ambient.run({ ...ambient.getStore(), ...added }, run);
}

/**
 * Runs something for no call, such as a loop that the first call starts and that outlives it.
 */
export function outside<T>(run: () => T): T {
  return ambient.exit(run);
}

/** Notes facts for the access log, if there is one. */
export function noteCall(facts: CallNote): void {
  const note = ambient.getStore()?.note;
  if (note) Object.assign(note, facts);
}

/** Returns the current span; undefined if there is none. */
export function currentSpan(): Span | undefined {
  return ambient.getStore()?.span;
}

/** Returns the current span as the parent of spans in other processes. */
export function currentTraceparent(): string | undefined {
  return currentSpan()?.traceparent;
}

/** Returns the fields of a log line that name the request and the span in which it is written. */
export function ambientFields(): Readonly<Record<string, string>> {
  const { requestId, span } = ambient.getStore() ?? {};
  return {
    ...(requestId !== undefined && { requestId }),
    ...(span && { traceId: span.traceId, spanId: span.spanId }),
  };
}

/** Returns the reason of an error, from a closed list: messages may contain data of callers. */
export function reasonOf(error: unknown): string {
  if (error instanceof ServiceError) return error.reason;
  return error instanceof Error ? error.name : "unknown";
}
