import assert from "node:assert/strict";
import { test } from "node:test";
import { readConfig } from "../config.ts";
import { packageVersion } from "../std/version.ts";

const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://localhost:4318/" };

test("traces are off unless an endpoint is set, and can be switched off", () => {
  assert.equal(readConfig({}).tracing, undefined);
  assert.equal(readConfig({ OTEL_SERVICE_NAME: "a" }).tracing, undefined);
  for (const off of [{ OTEL_TRACES_EXPORTER: "none" }, { OTEL_SDK_DISABLED: "TRUE" }]) {
    assert.equal(readConfig({ ...endpoint, ...off }).tracing, undefined);
  }
});

test("the variables of OpenTelemetry have its defaults and forms", () => {
  assert.deepEqual(readConfig(endpoint).tracing, {
    url: "http://localhost:4318/v1/traces",
    headers: {},
    resource: { "service.name": "hlust", "service.version": packageVersion() },
    sampler: "parentbased_always_on",
    samplerRatio: 1,
    timeoutMs: 10_000,
    queueMax: 2048,
    delayMs: 5_000,
  });
  const { url, headers, resource, sampler, samplerRatio } =
    readConfig({
      ...endpoint,
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "https://traces.example.org/in",
      OTEL_EXPORTER_OTLP_HEADERS: "authorization=Basic%20YTpi, x=1=2,",
      OTEL_RESOURCE_ATTRIBUTES: "service.name=a,host.name=b%2Cc",
      OTEL_TRACES_SAMPLER: "traceidratio",
      OTEL_TRACES_SAMPLER_ARG: "0.01",
    }).tracing ?? assert.fail();
  assert.equal(url, "https://traces.example.org/in");
  assert.deepEqual(headers, { authorization: "Basic YTpi", x: "1=2" });
  assert.deepEqual([resource["service.name"], resource["host.name"]], ["a", "b,c"]);
  assert.deepEqual([sampler, samplerRatio], ["traceidratio", 0.01]);
});

for (const [name, value, problem] of [
  ["OTEL_EXPORTER_OTLP_ENDPOINT", "localhost:4318", /OTEL_EXPORTER_OTLP_ENDPOINT must be/],
  ["OTEL_EXPORTER_OTLP_PROTOCOL", "grpc", /must be one of http\/json, not "grpc"/],
  ["OTEL_EXPORTER_OTLP_HEADERS", "secret", /HEADERS must be NAME=VALUE,...; one entry has no/],
  ["OTEL_EXPORTER_OTLP_HEADERS", "a=%zz", /HEADERS has a value with a % that is not percent/],
  ["OTEL_TRACES_SAMPLER", "some", /must be one of always_on, .*, not "some"/],
  ["OTEL_TRACES_SAMPLER_ARG", "1.5", /OTEL_TRACES_SAMPLER_ARG must be 0 to 1, not "1.5"/],
  ["OTEL_TRACES_SAMPLER_ARG", "a", /must be 0 to 1, not "a"/],
  ["OTEL_BSP_MAX_QUEUE_SIZE", "0", /OTEL_BSP_MAX_QUEUE_SIZE must be a whole number from 1/],
] as const) {
  test(`${name}=${value} is refused`, () => {
    assert.throws(() => readConfig({ [name]: value }), problem);
  });
}
