import {
  ConfigError,
  httpUrl,
  ifSet,
  oneOf,
  whole,
  type ReadSetting,
  type Setting,
} from "../std/setting.ts";
import { packageVersion } from "../std/version.ts";
import { samplers, type TracingOptions } from "../tracing/tracing-options.ts";

type Values = Readonly<Record<string, string>>;

/** The variables of OpenTelemetry, with its names and defaults. */
export const tracingSettings = {
  endpoint: {
    name: "OTEL_EXPORTER_OTLP_ENDPOINT",
    meaning:
      "OTLP endpoint to which traces are sent as JSON over HTTP, for example http://localhost:4318",
    fallback: "none: no traces",
    parse: ifSet(httpUrl),
  } satisfies Setting<string | undefined>,
  tracesEndpoint: {
    name: "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
    meaning: "URL to which traces are posted, with its path",
    fallback: "OTEL_EXPORTER_OTLP_ENDPOINT and /v1/traces",
    parse: ifSet(httpUrl),
  } satisfies Setting<string | undefined>,
  protocol: {
    name: "OTEL_EXPORTER_OTLP_PROTOCOL",
    meaning: "Protocol of the endpoint: http/json, which every OTLP endpoint over HTTP accepts",
    fallback: "http/json",
    parse: (text, name) => oneOf(text ?? "http/json", name, ["http/json"] as const),
  } satisfies Setting<"http/json">,
  headers: {
    name: "OTEL_EXPORTER_OTLP_HEADERS",
    meaning: "Headers of requests to the endpoint: NAME=VALUE,..., values percent-encoded",
    fallback: "none",
    secret: true,
    parse: (text, name) => pairs(text, name),
  } satisfies Setting<Values>,
  timeoutMs: {
    name: "OTEL_EXPORTER_OTLP_TIMEOUT",
    meaning: "Time limit of one request to the endpoint, in milliseconds",
    fallback: "10000",
    parse: (text, name) => whole(text ?? "10000", name, 1, 600_000),
  } satisfies Setting<number>,
  serviceName: {
    name: "OTEL_SERVICE_NAME",
    meaning: "Name of this service in traces",
    fallback: "service.name of OTEL_RESOURCE_ATTRIBUTES, or hlust",
    parse: (text) => text,
  } satisfies Setting<string | undefined>,
  resource: {
    name: "OTEL_RESOURCE_ATTRIBUTES",
    meaning: "Attributes of this process in traces: NAME=VALUE,..., values percent-encoded",
    fallback: "none",
    parse: (text, name) => pairs(text, name),
  } satisfies Setting<Values>,
  sampler: {
    name: "OTEL_TRACES_SAMPLER",
    meaning: `Which traces are sent: ${samplers.join(", ")}; parentbased_ ones follow the caller`,
    fallback: "parentbased_always_on",
    parse: (text, name) => oneOf(text ?? "parentbased_always_on", name, samplers),
  } satisfies Setting<TracingOptions["sampler"]>,
  samplerRatio: {
    name: "OTEL_TRACES_SAMPLER_ARG",
    meaning: "Share of traces that a traceidratio sampler takes, 0 to 1",
    fallback: "1",
    parse: (text, name) => ratio(text ?? "1", name),
  } satisfies Setting<number>,
  queueMax: {
    name: "OTEL_BSP_MAX_QUEUE_SIZE",
    meaning: "Most spans that wait to be sent; others are dropped and counted",
    fallback: "2048",
    parse: (text, name) => whole(text ?? "2048", name, 1, 1_000_000),
  } satisfies Setting<number>,
  delayMs: {
    name: "OTEL_BSP_SCHEDULE_DELAY",
    meaning: "Time between two requests to the endpoint, in milliseconds",
    fallback: "5000",
    parse: (text, name) => whole(text ?? "5000", name, 1, 600_000),
  } satisfies Setting<number>,
  exporter: {
    name: "OTEL_TRACES_EXPORTER",
    meaning: "otlp, or none: no traces",
    fallback: "otlp",
    parse: (text, name) => oneOf(text ?? "otlp", name, ["otlp", "none"] as const),
  } satisfies Setting<"otlp" | "none">,
  isDisabled: {
    name: "OTEL_SDK_DISABLED",
    meaning: "true: no traces",
    fallback: "false",
    parse: (text) => text?.toLowerCase() === "true",
  } satisfies Setting<boolean>,
};

/** Reads where traces are sent; undefined if none are. */
export function readTracing(read: ReadSetting): TracingOptions | undefined {
  const endpoint = read<string | undefined>(tracingSettings.endpoint);
  const tracesEndpoint = read<string | undefined>(tracingSettings.tracesEndpoint);
  const url = tracesEndpoint ?? (endpoint && `${endpoint.replace(/\/+$/, "")}/v1/traces`);
  const resource = read<Values>(tracingSettings.resource);
  const name = read<string | undefined>(tracingSettings.serviceName) ?? resource["service.name"];
  const exporter = read<"otlp" | "none">(tracingSettings.exporter);
  const isDisabled = read<boolean>(tracingSettings.isDisabled);
  read<"http/json">(tracingSettings.protocol);
  const options = {
    headers: read<Values>(tracingSettings.headers),
    sampler: read<TracingOptions["sampler"]>(tracingSettings.sampler),
    samplerRatio: read<number>(tracingSettings.samplerRatio),
    timeoutMs: read<number>(tracingSettings.timeoutMs),
    queueMax: read<number>(tracingSettings.queueMax),
    delayMs: read<number>(tracingSettings.delayMs),
  };
  if (url === undefined || exporter === "none" || isDisabled) return undefined;
  const own = { "service.name": name ?? "hlust", "service.version": packageVersion() };
  return { ...options, url, resource: { ...resource, ...own } };
}

/** Reads NAME=VALUE,... with percent-encoded values (W3C Baggage). */
function pairs(text: string | undefined, name: string): Values {
  const entries = (text ?? "").split(",").flatMap((pair) => {
    if (pair.trim() === "") return [];
    const at = pair.indexOf("=");
    if (at < 1)
      throw new ConfigError(`${name} must be NAME=VALUE,...; one entry has no name or no =`);
    return [[pair.slice(0, at).trim(), decoded(pair.slice(at + 1).trim(), name)]];
  });
  return Object.fromEntries(entries);
}

function decoded(text: string, name: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new ConfigError(`${name} has a value with a % that is not percent-encoded`);
  }
}

function ratio(text: string, name: string): number {
  const value = Number(text);
  if (/^\d*\.?\d+$/.test(text) && value <= 1) return value;
  throw new ConfigError(`${name} must be 0 to 1, not ${JSON.stringify(text)}`);
}
