// Traces of real processes, received by a small OTLP endpoint: one trace from the caller to the
// webhook, short spans of live streams, and an endpoint that never answers.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, before, test } from "node:test";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { Transcripts } from "../../src/gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { startService, type ServiceProcess } from "../fault/process.ts";
import { scriptedSamples } from "../fault/scripted-recording.ts";
import { wavOf } from "../fixtures/jobs-fixture.ts";
import {
  openOtlpReceiver,
  type OtlpReceiver,
  type ReceivedSpan,
} from "../fixtures/otlp-receiver.ts";
import { until } from "../fixtures/until.ts";
import { openReceiver } from "../fixtures/webhooks-fixture.ts";
import { openMediaHost } from "../spec/media-host.ts";
import { callRest, type Answer } from "../spec/service.ts";
import { openStream, streamingConfig } from "../spec/stream.ts";

const data = mkdtempSync(join(tmpdir(), "hlust-traces-"));
after(() => rmSync(data, { recursive: true, force: true }));

const callerSpan = "b7ad6b7169203331";
/** Returns the traceparent of a caller, whose trace has this id. */
const traceparentOf = (traceId: string, flags = "01") => `00-${traceId}-${callerSpan}-${flags}`;
const newTraceId = () => randomBytes(16).toString("hex");
/** Clocks of the database and of the service have milliseconds, which they round. */
const clockMs = 5;
const kinds = { server: 2, client: 3, consumer: 5 } as const;
const loadedModules = resolve(import.meta.dirname, "../fixtures/loaded-modules.ts");

/** Starts the service with the scripted engine; all starts share its data. */
async function start(environment: Readonly<Record<string, string>>): Promise<ServiceProcess> {
  return await startService(data, {
    HLUST_ENGINE: "scripted",
    HLUST_ALLOW_WEBHOOKS_TO: "127.0.0.1",
    NODE_OPTIONS: `--import=${loadedModules}`,
    ...environment,
  });
}

async function startTraced(
  { url }: Pick<OtlpReceiver, "url">,
  environment: Readonly<Record<string, string>> = {},
): Promise<ServiceProcess> {
  return await start({
    OTEL_EXPORTER_OTLP_ENDPOINT: url,
    OTEL_BSP_SCHEDULE_DELAY: "50",
    ...environment,
  });
}

const call = async (
  { address, key }: ServiceProcess,
  method: string,
  path: string,
  options: { readonly body?: unknown; readonly headers?: Record<string, string> } = {},
): Promise<Answer> => await callRest(address, key, { method, path, ...options });

/** Returns the only span of a name. */
function only(spans: readonly ReceivedSpan[], name: string): ReceivedSpan {
  const found = spans.filter((span) => span.name === name);
  assert.equal(found.length, 1, `${name}: ${spans.map((span) => span.name).join(", ")}`);
  return found[0] ?? assert.fail();
}

/** The endpoint of the service that most tests share. */
let receiver: OtlpReceiver;
let traced: ServiceProcess;
before(async () => {
  receiver = await openOtlpReceiver();
  traced = await startTraced(receiver, {
    OTEL_EXPORTER_OTLP_HEADERS: "x-tenant=a%20b",
    OTEL_RESOURCE_ATTRIBUTES: "deployment.environment.name=test,service.name=other",
    OTEL_SERVICE_NAME: "speech",
    HLUST_ACCESS_LOG: "true",
  });
});
after(async () => {
  assert.equal(await traced.stop(), 0);
  await receiver[Symbol.asyncDispose]();
});

/** Waits until a trace has a number of spans of a name, and returns its spans. */
async function spansWith(traceId: string, name: string, count = 1): Promise<ReceivedSpan[]> {
  const find = () => receiver.spans.filter((span) => span.traceId === traceId);
  await until(async () => find().filter((span) => span.name === name).length === count, 60_000);
  return find();
}

test("without an endpoint and metrics, nothing of OpenTelemetry and prom-client is loaded", async () => {
  await using service = await start({});
  const { status } = await call(service, "GET", "/v1alpha1/transcripts");
  assert.equal(status, 200);
  assert.equal(await service.stop(), 0);
  assert.doesNotMatch(service.output().errors, /^loaded /m);
});

test("one trace leads from the caller's traceparent to the webhook", async () => {
  const traceId = newTraceId();
  await using webhook = await openReceiver();
  const recording = wavOf(scriptedSamples([700, 1_200], { pauseMs: 600 }));
  const secretPath = "/secret-name.wav?signature=secret-query";
  await using host = await openMediaHost({ [secretPath]: recording });
  const service = traced;
  assert.match(service.output().errors, /^loaded .*\/@opentelemetry\//m);
  await call(service, "POST", "/v1/webhooks", { body: { url: webhook.url } });
  const body = {
    metadata: { languageCode: "en-US", fileType: "AUDIO", subject: "secret-subject" },
    useUri: true,
    uri: `${host.address}${secretPath}`,
  };
  const path = "/v1alpha1/transcriptjob:submit?unknown=secret-query";
  const submitPath = path.split("?")[0] ?? "";
  const headers = { traceparent: traceparentOf(traceId) };
  const submitted = await call(service, "POST", submitPath, { body, headers });
  assert.equal(submitted.status, 200, JSON.stringify(submitted.json));
  assert.equal((await call(service, "GET", path, { headers })).status >= 400, true);
  await until(async () => webhook.received.length === 1, 60_000);
  await spansWith(traceId, "deliver webhook");
  const spans = await spansWith(traceId, "process job");
  const endpoint = only(spans, "POST /v1alpha1/transcriptjob:submit");
  assert.deepEqual([endpoint.parentSpanId, endpoint.kind], [callerSpan, kinds.server]);
  assert.equal(endpoint.attributes["http.response.status_code"], 200);
  const method = only(spans, "hlust.transcripts.v1alpha1.Transcripts/SubmitTranscriptJob");
  assert.equal(method.parentSpanId, endpoint.spanId);
  const insert = spans.find(
    ({ name }) => name.endsWith("transcript_job") && name !== "process job",
  );
  assert.equal(insert?.parentSpanId, method.spanId);
  assert.equal(insert?.attributes["db.system.name"], "postgresql");
  const job = only(spans, "process job");
  assert.deepEqual([job.parentSpanId, job.kind], [method.spanId, kinds.consumer]);
  for (const name of ["fetch media", "decode", "finish job"]) {
    assert.equal(only(spans, name).parentSpanId, job.spanId, name);
  }
  const statements = spans.filter((span) => span.attributes["db.system.name"] !== undefined);
  const parents = new Set(statements.map(({ parentSpanId }) => parentSpanId));
  for (const step of [method, job, only(spans, "finish job")]) {
    assert.ok(parents.has(step.spanId), `no statement of ${step.name}`);
  }
  const queue = only(spans, "queue job");
  assert.equal(queue.parentSpanId, method.spanId);
  assert.ok(queue.startMs >= endpoint.startMs - clockMs && queue.endMs <= job.startMs + clockMs);
  const recognize = spans.find(({ name }) => name.startsWith("recognize "));
  assert.equal(recognize?.parentSpanId, job.spanId);
  const delivery = only(spans, "deliver webhook");
  assert.deepEqual([delivery.parentSpanId, delivery.kind], [method.spanId, kinds.client]);
  const waiting = only(spans, "queue webhook");
  assert.equal(waiting.parentSpanId, method.spanId);
  assert.ok(
    waiting.startMs >= job.startMs - clockMs && waiting.endMs <= delivery.startMs + clockMs,
  );
  // The lines of the log lead to the trace.
  for (const [event, span] of [
    ["job.started", job],
    ["webhook.delivered", delivery],
  ] as const) {
    const line = service
      .output()
      .errors.split("\n")
      .find((each) => each.includes(`"${event}"`));
    const { traceId: ofLine, spanId }: Record<string, unknown> = JSON.parse(line ?? "{}");
    assert.deepEqual([ofLine, spanId], [traceId, span.spanId], event);
  }
  assert.equal(webhook.received[0]?.headers["traceparent"], `00-${traceId}-${delivery.spanId}-01`);
  assert.equal(receiver.headers["x-tenant"], "a b");
  assert.equal(job.resource["service.name"], "speech");
  assert.equal(job.resource["deployment.environment.name"], "test");
  for (const text of [...receiver.bodies, service.output().errors]) {
    for (const secret of ["secret-name", "secret-subject", "secret-query", service.key]) {
      assert.ok(!text.includes(secret), `${secret} in ${text}`);
    }
  }
});

test("the signature of a signed URL is in no span and in no line of the log", async () => {
  const traceId = newTraceId();
  const metadata = { languageCode: "en-US", fileType: "AUDIO" };
  const transcripts = "/v1alpha1/transcripts";
  const created = await call(traced, "POST", transcripts, { body: { metadata } });
  const body = { resourceName: created.json.name };
  const { json } = await call(traced, "POST", "/v1alpha1/initupload", { body });
  const url = new URL(json.storageSignedUrl);
  const secrets = [...url.searchParams.values()].filter((value) => value.length >= 16);
  assert.ok(secrets.length > 0, url.search.replaceAll(/[^?&=]/g, "x"));
  const requestId = "signed-1";
  const headers = { "x-request-id": requestId, traceparent: traceparentOf(traceId) };
  const media = wavOf(scriptedSamples([700], { pauseMs: 600 }));
  assert.equal((await fetch(url, { method: "PUT", body: media, headers })).status, 200);
  const isTraced = () => receiver.spans.some((span) => span.traceId === traceId);
  const lines = () => traced.output().errors;
  await until(async () => isTraced() && lines().includes(`"${requestId}"`), 60_000);
  for (const text of [...receiver.bodies, lines()]) {
    for (const secret of secrets) assert.ok(!text.includes(secret), "the signature is shown");
  }
});

test("an alignment job is a step of the trace in which it was submitted", async () => {
  const traceId = newTraceId();
  const recording = wavOf(scriptedSamples([700, 1_200], { pauseMs: 600 }));
  await using host = await openMediaHost({ "/talk.wav": recording });
  const body = {
    metadata: { languageCode: "en-US", fileType: "AUDIO" },
    useUri: true,
    uri: `${host.address}/talk.wav`,
  };
  const submitted = await call(traced, "POST", "/v1alpha1/transcriptjob:submit", { body });
  let transcript = "";
  await until(async () => {
    const { json } = await call(traced, "GET", `/v1alpha1/${submitted.json.name}`);
    transcript = json.transcript ?? "";
    return transcript !== "";
  }, 60_000);
  const aligned = await call(traced, "POST", "/v1alpha1/alignmentjobs:submit", {
    body: { transcript },
    headers: { traceparent: traceparentOf(traceId) },
  });
  assert.equal(aligned.status, 200, JSON.stringify(aligned.json));
  const spans = await spansWith(traceId, "process alignment job");
  const method = only(spans, "hlust.transcripts.v1alpha1.Transcripts/SubmitAlignmentJob");
  const job = only(spans, "process alignment job");
  assert.deepEqual([job.parentSpanId, job.kind], [method.spanId, kinds.consumer]);
  assert.equal(only(spans, "queue alignment job").parentSpanId, method.spanId);
  for (const name of ["align media", "finish alignment job"]) {
    assert.equal(only(spans, name).parentSpanId, job.spanId, name);
  }
});

test("a live stream has short spans: its opening, each utterance, and its end", async () => {
  const traceId = newTraceId();
  const headers = { traceparent: traceparentOf(traceId) };
  const stream = await openStream(traced.address, { token: traced.key, headers });
  stream.send(streamingConfig());
  const samples = scriptedSamples([1_300, 1_300], { pauseMs: 900 });
  stream.sendAudio(Buffer.from(samples.buffer));
  // The spans of an open stream arrive while it is open.
  const early = await spansWith(traceId, "utterance", 2);
  const name = "hlust.speech.v2beta1.Speech/StreamingRecognize";
  const endpoint = only(early, "WEBSOCKET /v2beta1/speech:streamingrecognize");
  assert.equal(endpoint.parentSpanId, callerSpan);
  assert.equal(only(early, `${name} opened`).parentSpanId, endpoint.spanId);
  assert.ok(early.every((span) => span.name !== `${name} ended`));
  for (const { attributes, parentSpanId } of early.filter((span) => span.name === "utterance")) {
    assert.deepEqual([parentSpanId, attributes["hlust.mode"]], [endpoint.spanId, "live"]);
    assert.ok(Number(attributes["hlust.utterance_ms"]) >= 1_000);
  }
  stream.send({ audioContent: "" });
  assert.equal(await stream.closed, 1000);
  const ended = only(await spansWith(traceId, `${name} ended`), `${name} ended`);
  assert.ok(Number(ended.attributes["hlust.stream.duration_ms"]) > 0);
  assert.ok(!receiver.bodies.join("").includes(traced.key), "the token of the address");
});

test("a socket of another service's protocol has short spans too", async () => {
  const traceId = newTraceId();
  const headers = { traceparent: traceparentOf(traceId) };
  const stream = await openStream(traced.address, { token: traced.key, path: "/vosk/en", headers });
  stream.send({ config: { sample_rate: 16_000 } });
  const samples = Buffer.from(scriptedSamples([1_300], { pauseMs: 900 }).buffer);
  for (let at = 0; at < samples.length; at += 3_200) {
    stream.sendRaw(samples.subarray(at, at + 3_200), true);
  }
  const spans = await spansWith(traceId, "utterance");
  const name = "WEBSOCKET hlust.speech.v2beta1.Speech/StreamingRecognize";
  assert.equal(only(spans, "utterance").parentSpanId, only(spans, name).spanId);
  stream.send({ eof: 1 });
  await stream.closed;
});

test("what a stream starts and leaves running is not part of its trace", async () => {
  const traceId = newTraceId();
  const authorization = `Bearer ${traced.key}`;
  const headers = { authorization, traceparent: traceparentOf(traceId) };
  const leave = new AbortController();
  const client = createClient(Transcripts, createGrpcTransport({ baseUrl: traced.address }));
  const options = { headers, signal: leave.signal };
  const watch = client.watchTranscriptJobs({}, options)[Symbol.asyncIterator]();
  await watch.next();
  const body = {
    metadata: { languageCode: "en-US", fileType: "AUDIO" },
    useUri: true,
    uri: "http://127.0.0.1:9/none.wav",
  };
  await call(traced, "POST", "/v1alpha1/transcriptjob:submit", { body });
  // The change is read by the loop that the watch has started.
  await watch.next();
  leave.abort();
  const ended = "hlust.transcripts.v1alpha1.Transcripts/WatchTranscriptJobs ended";
  const spans = await spansWith(traceId, ended);
  const endpoint = spans.find(({ kind }) => kind === kinds.server) ?? assert.fail();
  const late = spans.filter(({ startMs }) => startMs > endpoint.endMs);
  const names = new Set(late.map(({ name }) => name));
  assert.deepEqual(names.difference(new Set([ended, ended.replace("ended", "opened")])), new Set());
});

test("a call over gRPC continues the caller's trace, and an error is named by its reason", async () => {
  const traceId = newTraceId();
  const client = createClient(Transcripts, createGrpcTransport({ baseUrl: traced.address }));
  const authorization = `Bearer ${traced.key}`;
  const headers = { traceparent: traceparentOf(traceId), authorization };
  const name = "transcripts/00000000-0000-4000-8000-000000000000";
  await assert.rejects(client.getTranscript({ name }, { headers }));
  const method = "hlust.transcripts.v1alpha1.Transcripts/GetTranscript";
  const spans = await spansWith(traceId, method, 2);
  const endpoint = spans.find(({ kind }) => kind === kinds.server);
  assert.equal(endpoint?.parentSpanId, callerSpan);
  const call = spans.find((span) => span.name === method && span !== endpoint);
  assert.deepEqual(
    [call?.parentSpanId, call?.isFailed, call?.attributes["error.type"]],
    [endpoint?.spanId, true, "TRANSCRIPT_NOT_FOUND"],
  );
});

test("a sampler with parents follows its callers", async () => {
  const traceId = newTraceId();
  await using other = await openOtlpReceiver();
  await using service = await startTraced(other, {
    OTEL_TRACES_SAMPLER: "parentbased_traceidratio",
    OTEL_TRACES_SAMPLER_ARG: "0",
  });
  const path = "/v1alpha1/transcripts";
  await call(service, "GET", path);
  const unsampled = { traceparent: traceparentOf(newTraceId(), "00") };
  await call(service, "GET", path, { headers: unsampled });
  await call(service, "GET", path, { headers: { traceparent: traceparentOf(traceId) } });
  assert.equal(await service.stop(), 0);
  assert.equal(other.named("GET /v1alpha1/transcripts").length, 1);
  assert.deepEqual(new Set(other.spans.map((span) => span.traceId)), new Set([traceId]));
});

for (const how of ["never answers", "is unavailable"] as const) {
  test(`an endpoint that ${how} delays no call, and dropped spans are counted`, async () => {
    await using silent = await openOtlpReceiver({ answers: false });
    await using service = await startTraced(
      { url: how === "is unavailable" ? "http://127.0.0.1:9" : silent.url },
      { OTEL_BSP_MAX_QUEUE_SIZE: "8", OTEL_EXPORTER_OTLP_TIMEOUT: "600000" },
    );
    for (let count = 0; count < 40; count += 1) {
      const { status } = await call(service, "GET", "/v1alpha1/transcripts");
      assert.equal(status, 200);
    }
    if (how === "never answers") await until(async () => silent.requests > 0);
    assert.equal(await service.stop(), 0);
    const dropped = /"count":(\d+),"event":"traces.dropped"/.exec(service.output().errors);
    assert.ok(Number(dropped?.[1]) > 0, service.output().errors);
  });
}
