import type { Counter } from "prom-client";
import { closedList, other } from "./labels.ts";
import type { MetricRegistry } from "./metric-registry.ts";
import type { HistogramSeries, PlainHistogram } from "./plain-histogram.ts";
import {
  callProtocols,
  httpRoutes,
  type CallFailure,
  type CallProtocol,
  type CallRecorder,
  type HttpRecorder,
  type RecordedCall,
} from "./recorders.ts";

/** A method of the contract. */
export interface ServedMethod {
  /** <service>/<method>. */
  readonly name: string;
  /** The name under which it is counted: that of the contract, if `name` is of another one. */
  readonly countedAs: string;
  readonly isStream: boolean;
}

/** The bounds of calls, in seconds: those of OpenTelemetry's convention, thinned out. */
const callSeconds = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 10];

/**
 * The maximum number of combinations of method, protocol and code. Callers choose all three, and
 * together they have several thousand values. Further combinations count for the method `_OTHER`.
 */
const combinationsMax = 700;

/** The protocols of other services over HTTP. */
const dialects: ReadonlySet<string> = new Set(["deepgram", "openai", "whisper"]);

const httpMethods = closedList(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

/**
 * The reasons with which calls are refused, by kind. admission: this node has no room for them.
 * limit: a limit of their account, key, address or memory. auth: their credential.
 */
export const refusalReasons = {
  admission: [
    "STREAMS_FULL",
    "QUEUE_FULL",
    "NO_ENGINE",
    "RECORDINGS_BUSY",
    "DECODERS_BUSY",
    "DECODERS_FULL",
    "FILES_BUSY",
    "SEARCHES_BUSY",
    "TRANSCRIPTS_BUSY",
    "WATCHES_FULL",
  ],
  limit: [
    "TOO_MANY_REQUESTS",
    "TOO_MANY_STREAMS",
    "TOO_MANY_JOBS",
    "TOO_MANY_CONNECTIONS",
    "AUDIO_LIMIT",
    "STORAGE_LIMIT",
    "BODIES_FULL",
    "ANSWERS_FULL",
    "PRESENCE_FULL",
  ],
  auth: ["TOKEN_MISSING", "TOKEN_INVALID", "SCOPE_MISSING", "SEVERAL_TOKENS", "TOO_MANY_REFUSED"],
} as const;

type RefusalKind = keyof typeof refusalReasons;

/** A method as it is counted: what happens for each call only adds to these numbers. */
interface CountedMethod {
  readonly name: string;
  /** Undefined until a call of it is timed: streams are not. */
  seconds: HistogramSeries | undefined;
  /** The calls that no text has yet, by protocol and the name of the code. */
  readonly ended: Map<CallProtocol, Map<string, number>>;
}

/** The calls of a node, in every protocol. */
export class CallMetrics implements CallRecorder, HttpRecorder {
  readonly #methods = new Map<string, CountedMethod>();
  readonly #counted: readonly CountedMethod[];
  readonly #other: CountedMethod;
  readonly #dialects: ReadonlyMap<string, HistogramSeries>;
  readonly #combinations = new Set<string>();
  readonly #total: Counter<"rpc_method" | "protocol" | "code">;
  readonly #seconds: PlainHistogram<"rpc_method">;
  readonly #activeCounts = new Map<CallProtocol, number>();
  readonly #httpSeconds: PlainHistogram<"http_request_method" | "http_route">;
  readonly #httpResponses: Counter<"http_route" | "status_class">;
  readonly #refusals: Counter<"kind" | "reason">;
  readonly #refusalKinds: ReadonlyMap<string, RefusalKind>;

  constructor(registry: MetricRegistry, methods: readonly ServedMethod[]) {
    this.#total = registry.counter({
      name: "hlust_calls_total",
      help: "Ended calls, by method, protocol and google.rpc.Code",
      labelNames: ["rpc_method", "protocol", "code"],
      collect: () => this.#addEnded(),
    });
    this.#seconds = registry.histogram({
      name: "rpc_server_call_duration_seconds",
      help: "Time from a request to the end of its response; streams are not included",
      labelNames: ["rpc_method"],
      buckets: callSeconds,
    });
    const active = registry.gauge({
      name: "hlust_calls_active",
      help: "Calls in progress, including streams",
      labelNames: ["protocol"],
      collect: () => {
        for (const protocol of callProtocols) {
          active.set({ protocol }, this.#activeCounts.get(protocol) ?? 0);
        }
      },
    });
    this.#httpSeconds = registry.histogram({
      name: "http_server_request_duration_seconds",
      help: "Time of requests that are not calls of methods: media, uploads, console, health",
      labelNames: ["http_request_method", "http_route"],
      buckets: callSeconds,
    });
    this.#httpResponses = registry.counter({
      name: "hlust_http_responses_total",
      help: "Responses to these requests, by class of status",
      labelNames: ["http_route", "status_class"],
    });
    this.#refusals = registry.counter({
      name: "hlust_refusals_total",
      help: "Refused calls and connections: no room on this node (admission), a limit, or their credential (auth)",
      labelNames: ["kind", "reason"],
    });
    this.#refusalKinds = new Map(
      refusalKinds.flatMap((kind) => refusalReasons[kind].map((reason) => [reason, kind] as const)),
    );
    const counted = new Map<string, CountedMethod>();
    for (const { name, countedAs } of methods) {
      const method = counted.get(countedAs) ?? countedMethod(countedAs);
      counted.set(countedAs, method);
      this.#methods.set(name, method);
    }
    this.#other = countedMethod(other);
    this.#counted = [...counted.values(), this.#other];
    this.#dialects = new Map(
      Array.from(dialects, (name) => [name, this.#seconds.series({ rpc_method: name })]),
    );
    this.#beginAtZero(methods);
  }

  begin(protocol: CallProtocol): RecordedCall {
    this.#count(protocol, 1);
    return new OpenCall((call) => this.#ended(protocol, call));
  }

  answered(
    { method, route }: Parameters<HttpRecorder["answered"]>[0],
    { status, seconds }: Parameters<HttpRecorder["answered"]>[1],
  ): void {
    const labels = { http_request_method: httpMethods(method), http_route: route };
    this.#httpSeconds.series(labels).observe(seconds);
    const status_class = `${Math.min(5, Math.max(1, Math.floor(status / 100)))}xx`;
    this.#httpResponses.inc({ http_route: route, status_class });
  }

  turnedAway(reason: string): void {
    this.#refused(reason);
  }

  /** Counts the reason of a failure if it is that of a refusal. */
  #refused(reason: string): void {
    const kind = this.#refusalKinds.get(reason);
    if (kind) this.#refusals.inc({ kind, reason });
  }

  #ended(protocol: CallProtocol, { method, isTimed, failure, seconds }: OpenCall): void {
    this.#count(protocol, -1);
    const counted = this.#methods.get(method) ?? this.#other;
    const code = failure ? failure.code : "ok";
    const byCode = counted.ended.get(protocol) ?? new Map<string, number>();
    if (byCode.size === 0) counted.ended.set(protocol, byCode);
    byCode.set(code, (byCode.get(code) ?? 0) + 1);
    // Calls in the protocols of other services are timed by protocol: they are often much longer.
    if (isTimed) (this.#dialects.get(protocol) ?? this.#secondsOf(counted)).observe(seconds);
    if (failure) this.#refused(failure.reason);
  }

  #secondsOf(method: CountedMethod): HistogramSeries {
    method.seconds ??= this.#seconds.series({ rpc_method: method.name });
    return method.seconds;
  }

  /** Adds the calls that have ended since the last text. */
  #addEnded(): void {
    for (const { name, ended } of this.#counted) {
      for (const [protocol, byCode] of ended) {
        for (const [key, count] of byCode) {
          const code = key === "ok" ? "OK" : codeOf(key);
          const rpc_method = this.#hasRoom(`${name} ${protocol} ${code}`) ? name : other;
          this.#total.inc({ rpc_method, protocol, code }, count);
        }
        byCode.clear();
      }
    }
  }

  #count(protocol: CallProtocol, by: number): void {
    this.#activeCounts.set(protocol, (this.#activeCounts.get(protocol) ?? 0) + by);
  }

  #hasRoom(combination: string): boolean {
    if (this.#combinations.has(combination)) return true;
    if (this.#combinations.size >= combinationsMax) return false;
    this.#combinations.add(combination);
    return true;
  }

  /** Creates the series on which alerts and panels depend, so that the first event is a rise. */
  #beginAtZero(methods: readonly ServedMethod[]): void {
    for (const { countedAs: rpc_method, isStream } of methods) {
      const protocol = isStream ? "websocket" : "rest";
      for (const code of ["OK", "INTERNAL"]) {
        this.#hasRoom(`${rpc_method} ${protocol} ${code}`);
        this.#total.inc({ rpc_method, protocol, code }, 0);
      }
      if (!isStream) this.#seconds.series({ rpc_method });
    }
    for (const kind of refusalKinds) {
      for (const reason of refusalReasons[kind]) this.#refusals.inc({ kind, reason }, 0);
    }
    for (const protocol of callProtocols) {
      for (const code of ["OK", "INTERNAL", "UNAVAILABLE"]) {
        this.#total.inc({ rpc_method: other, protocol, code }, 0);
      }
    }
    for (const http_route of httpRoutes) {
      this.#httpSeconds.series({ http_request_method: "GET", http_route });
      for (const status_class of ["2xx", "4xx", "5xx"]) {
        this.#httpResponses.inc({ http_route, status_class }, 0);
      }
    }
  }
}

function countedMethod(name: string): CountedMethod {
  return { name, seconds: undefined, ended: new Map() };
}

/** A call in progress. */
class OpenCall implements RecordedCall {
  method = "";
  isTimed = false;
  failure: CallFailure | undefined;
  readonly #startMs = performance.now();
  #onEnd: ((call: OpenCall) => void) | undefined;

  constructor(onEnd: (call: OpenCall) => void) {
    this.#onEnd = onEnd;
  }

  get seconds(): number {
    return (performance.now() - this.#startMs) / 1000;
  }

  called(method: string, isTimed: boolean): void {
    this.method = method;
    this.isTimed = isTimed;
  }

  failed(failure: CallFailure): void {
    this.failure ??= failure;
  }

  end(): void {
    const onEnd = this.#onEnd;
    this.#onEnd = undefined;
    onEnd?.(this);
  }
}

const refusalKinds = ["admission", "limit", "auth"] as const satisfies readonly RefusalKind[];

const codes = closedList([
  "CANCELLED",
  "UNKNOWN",
  "INVALID_ARGUMENT",
  "DEADLINE_EXCEEDED",
  "NOT_FOUND",
  "ALREADY_EXISTS",
  "PERMISSION_DENIED",
  "RESOURCE_EXHAUSTED",
  "FAILED_PRECONDITION",
  "ABORTED",
  "OUT_OF_RANGE",
  "UNIMPLEMENTED",
  "INTERNAL",
  "UNAVAILABLE",
  "DATA_LOSS",
  "UNAUTHENTICATED",
]);

function codeOf(name: string): string {
  return codes(name.toUpperCase());
}
