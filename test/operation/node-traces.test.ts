// A trace goes on in the engine node that recognizes for its caller.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { startService } from "../fault/process.ts";
import { scriptedSamples } from "../fault/scripted-recording.ts";
import { freePort } from "../fixtures/free-port.ts";
import { wavOf } from "../fixtures/jobs-fixture.ts";
import { openOtlpReceiver, type ReceivedSpan } from "../fixtures/otlp-receiver.ts";
import { until } from "../fixtures/until.ts";
import { openMediaHost } from "../spec/media-host.ts";
import { callRest } from "../spec/service.ts";
import { openStream, streamingConfig } from "../spec/stream.ts";

const newTraceId = () => randomBytes(16).toString("hex");
const traceparentOf = (traceId: string, flags = "01") => `00-${traceId}-b7ad6b7169203331-${flags}`;

/** Returns the only span of a name. */
function only(spans: readonly ReceivedSpan[], name: string): ReceivedSpan {
  const found = spans.filter((span) => span.name === name);
  assert.equal(found.length, 1, `${name}: ${spans.map((span) => span.name).join(", ")}`);
  return found[0] ?? assert.fail();
}

test("a trace continues on an engine node, for a job and for each utterance of a stream", async () => {
  const folder = mkdtempSync(join(tmpdir(), "hlust-traced-nodes-"));
  await using parts = new AsyncDisposableStack();
  const receiver = parts.use(await openOtlpReceiver());
  parts.defer(() => rmSync(folder, { recursive: true, force: true }));
  const port = await freePort();
  const tracing = { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, OTEL_BSP_SCHEDULE_DELAY: "50" };
  const both = {
    HLUST_ENGINE: "scripted",
    HLUST_ENGINE_CREDENTIAL: "the-credential-of-traced-nodes",
  };
  parts.use(
    await startService(join(folder, "node"), {
      ...both,
      ...tracing,
      OTEL_SERVICE_NAME: "engine-node",
      HLUST_ROLE: "engine",
      HLUST_ENGINE_LISTEN: `127.0.0.1:${port}`,
    }),
  );
  const client = parts.use(
    await startService(join(folder, "client"), {
      ...both,
      ...tracing,
      HLUST_ENGINES: `http://127.0.0.1:${port}`,
    }),
  );
  const samples = scriptedSamples([1_300, 1_300], { pauseMs: 900 });
  await using host = await openMediaHost({ "/talk.wav": wavOf(samples) });
  const { address, key } = client;
  const submit = async (traceparent: string) =>
    await callRest(address, key, {
      method: "POST",
      path: "/v1alpha1/transcriptjob:submit",
      body: {
        metadata: { languageCode: "en-US", fileType: "AUDIO" },
        useUri: true,
        uri: `${host.address}/talk.wav`,
      },
      headers: { traceparent },
    });
  /** Waits until a trace has a number of spans of a name, and returns its spans. */
  const spansWith = async (traceId: string, name: string, count = 1) => {
    const find = () => receiver.spans.filter((span) => span.traceId === traceId);
    await until(async () => find().filter((span) => span.name === name).length === count, 60_000);
    return find();
  };
  const onNode = (spans: readonly ReceivedSpan[]) =>
    spans.filter(({ resource }) => resource["service.name"] === "engine-node");

  const ofJob = newTraceId();
  const submitted = await submit(traceparentOf(ofJob));
  assert.equal(submitted.status, 200, JSON.stringify(submitted.json));
  await spansWith(ofJob, "finish job");
  const spans = await spansWith(ofJob, "engine scripted");
  const recognized = only(spans, "recognize scripted");
  const [engine, ...others] = onNode(spans);
  assert.deepEqual(others, []);
  assert.equal(engine?.parentSpanId, recognized.spanId);
  assert.equal(engine?.attributes["hlust.mode"], "job");
  assert.equal(engine?.isFailed, false);

  const ofStream = newTraceId();
  const headers = { traceparent: traceparentOf(ofStream) };
  const stream = await openStream(client.address, { token: client.key, headers });
  stream.send(streamingConfig());
  stream.sendAudio(Buffer.from(samples.buffer));
  const live = await spansWith(ofStream, "engine utterance", 2);
  const endpoint = only(live, "WEBSOCKET /v2beta1/speech:streamingrecognize");
  for (const { parentSpanId, attributes } of onNode(live)) {
    assert.deepEqual([parentSpanId, attributes["hlust.mode"]], [endpoint.spanId, "live"]);
    assert.ok(Number(attributes["hlust.utterance_ms"]) >= 1_000);
  }
  assert.equal(onNode(live).length, 2);
  stream.send({ audioContent: "" });
  assert.equal(await stream.closed, 1000);

  // A caller whose trace is not sampled has no spans there either.
  const before = onNode(receiver.spans).length;
  const quiet = await submit(traceparentOf(newTraceId(), "00"));
  const { name = "" } = quiet.json;
  await until(async () => {
    const { json } = await callRest(address, key, { method: "GET", path: `/v1alpha1/${name}` });
    return json.state === "SUCCESS";
  }, 60_000);
  assert.equal(onNode(receiver.spans).length, before);
});
