// The lines of the log and of the access log, as a real process writes them.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import process from "node:process";
import { after, before, test } from "node:test";
import { createClient } from "@connectrpc/connect";
import {
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
} from "@connectrpc/connect-node";
import { Transcripts } from "../../src/gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { startService, type ServiceProcess } from "../fault/process.ts";
import { scriptedSamples } from "../fault/scripted-recording.ts";
import { openOtlpReceiver, type OtlpReceiver } from "../fixtures/otlp-receiver.ts";
import { until } from "../fixtures/until.ts";
import { callRest } from "../spec/service.ts";
import { finalsOf, openStream, streamingConfig } from "../spec/stream.ts";

const data = mkdtempSync(join(tmpdir(), "hlust-logs-"));
after(() => rmSync(data, { recursive: true, force: true }));

let receiver: OtlpReceiver;
let service: ServiceProcess;
before(async () => {
  receiver = await openOtlpReceiver();
  service = await startService(data, {
    HLUST_ENGINE: "scripted",
    HLUST_LOG: "warn",
    HLUST_ACCESS_LOG: "true",
    OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
  });
});
after(async () => {
  await service.stop();
  await receiver[Symbol.asyncDispose]();
});

/** Waits for the line of a call. */
async function lineOf(requestId: string): Promise<Record<string, unknown>> {
  const find = () =>
    service
      .output()
      .errors.split("\n")
      .find((line) => line.includes(`"${requestId}"`) && line.includes("call.ended"));
  await until(async () => find() !== undefined);
  const line: Record<string, unknown> = JSON.parse(find() ?? "");
  return line;
}

const listMethod = "hlust.transcripts.v1alpha1.Transcripts/ListTranscripts";

test("the access log has one line a call, with its ids, and no level leaves it out", async () => {
  const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
  const headers = { "x-request-id": "rest-1", traceparent: `00-${traceId}-00f067aa0ba902b7-01` };
  const path = "/v1alpha1/transcripts?pageSize=5";
  await callRest(service.address, service.key, { method: "GET", path, headers });
  const { time, ms, bytes, accountId, spanId, ...line } = await lineOf("rest-1");
  assert.deepEqual(line, {
    level: "info",
    requestId: "rest-1",
    traceId,
    method: listMethod,
    protocol: "rest",
    code: "ok",
    status: 200,
    event: "call.ended",
  });
  assert.match(String(time), /Z$/);
  assert.match(String(spanId), /^[\da-f]{16}$/);
  assert.match(String(accountId), /^[\da-f-]{36}$/);
  assert.ok(Number(ms) >= 0 && Number(bytes) > 0);
});

for (const [protocol, transport] of [
  ["grpc", createGrpcTransport],
  ["grpc-web", createGrpcWebTransport],
  ["connect", createConnectTransport],
] as const) {
  test(`a call over ${protocol} is logged with its code`, async () => {
    const baseUrl = service.address;
    const client = createClient(Transcripts, transport({ baseUrl, httpVersion: "2" }));
    const authorization = `Bearer ${service.key}`;
    const good = { "x-request-id": `${protocol}-1`, authorization };
    await client.listTranscripts({}, { headers: good });
    const { method, protocol: shown, code, bytes } = await lineOf(`${protocol}-1`);
    assert.deepEqual([method, shown, code], [listMethod, protocol, "ok"]);
    // An empty list has no bytes in Protobuf.
    assert.ok(Number(bytes) >= 0);
    const bad = { "x-request-id": `${protocol}-2`, authorization: "Bearer wrong" };
    await assert.rejects(client.listTranscripts({}, { headers: bad }));
    assert.equal((await lineOf(`${protocol}-2`))["code"], "unauthenticated");
  });
}

test("a live stream is logged when it ends", async () => {
  const headers = { "x-request-id": "live-1" };
  const stream = await openStream(service.address, { token: service.key, headers });
  stream.send(streamingConfig());
  stream.sendAudio(Buffer.from(scriptedSamples([1_300], { pauseMs: 900 }).buffer));
  stream.send({ audioContent: "" });
  assert.equal(await stream.closed, 1000);
  const { method, protocol, code, bytes } = await lineOf("live-1");
  assert.deepEqual(
    [method, protocol, code],
    ["hlust.speech.v2beta1.Speech/StreamingRecognize", "websocket", "ok"],
  );
  assert.ok(Number(bytes) > 0);
});

test("no line has a token, a query or what was said, and probes have no line", async () => {
  const probe = { headers: { "x-request-id": "probe-1" } };
  assert.equal((await fetch(`${service.address}/healthz`, probe)).status, 200);
  await callRest(service.address, service.key, {
    method: "GET",
    path: `/v1alpha1/transcripts?token=${service.key}&filter=secret-word`,
    headers: { "x-request-id": "last" },
  });
  assert.equal((await lineOf("last"))["status"], 400);
  const { errors } = service.output();
  for (const text of [service.key, "secret-word", "probe-1", "token="]) {
    assert.ok(!errors.includes(text), text);
  }
});

/** Runs the log of a node with these settings, on a terminal or not. Returns its lines. */
function linesOf(settings: Readonly<Record<string, string>>, isTerminal: boolean): string[] {
  const source = (path: string) => JSON.stringify(resolve(import.meta.dirname, "../../src", path));
  const program = `
    import { readConfig } from ${source("config.ts")};
    import { openLogs } from ${source("open-logs.ts")};
    import { within } from ${source("tracing/tracing.ts")};
    const { log } = openLogs(readConfig(${JSON.stringify(settings)}), "front1");
    log.info({ ms: 3 }, "a.written");
    within({ requestId: "r" }, () => log.info("a.sampled"));
    within({ requestId: "r" }, () => log.warn("a.warning"));
    log.debug("a.debugged");`;
  const node = [process.execPath, "--input-type=module", "-e", program];
  const quoted = node.map((word) => `'${word.replaceAll("'", String.raw`'\''`)}'`).join(" ");
  const { status, stdout, stderr } = isTerminal
    ? spawnSync("script", ["-qec", quoted, "/dev/null"], { encoding: "utf8" })
    : spawnSync(node[0] ?? "", node.slice(1), { encoding: "utf8" });
  assert.equal(status, 0, stdout + stderr);
  return (isTerminal ? stdout : stderr).split(/\r?\n/).filter((line) => line !== "");
}

test("the log is pretty on a terminal and JSON elsewhere, and the settings choose level and sample", () => {
  const pretty = /^[\d:.]{12} INFO  a\.written process=front1 ms=3$/;
  const eventsOf = (lines: readonly string[]) =>
    lines.map((line) => {
      const { event, process: of }: Record<string, unknown> = JSON.parse(line);
      return `${String(of)} ${String(event)}`;
    });
  const [written, sampled, warning, debugged] = ["written", "sampled", "warning", "debugged"].map(
    (event) => `front1 a.${event}`,
  );
  assert.match(linesOf({}, true)[0] ?? "", pretty);
  assert.match(linesOf({ HLUST_LOG_FORMAT: "pretty" }, false)[0] ?? "", pretty);
  assert.deepEqual(eventsOf(linesOf({}, false)), [written, sampled, warning]);
  assert.deepEqual(eventsOf(linesOf({ HLUST_LOG: "debug", HLUST_LOG_SAMPLE: "0" }, false)), [
    written,
    warning,
    debugged,
  ]);
  assert.deepEqual(eventsOf(linesOf({ HLUST_LOG: "warn", HLUST_LOG_FORMAT: "json" }, true)), [
    warning,
  ]);
});

test("at the level debug, no line has what was said, and a sampled access log has the calls that failed", async () => {
  await using other = await startService(data, {
    HLUST_ENGINE: "scripted",
    HLUST_ACCESS_LOG: "true",
    HLUST_ACCESS_LOG_SAMPLE: "0",
    HLUST_LOG: "debug",
    HLUST_LOG_FORMAT: "pretty",
    HLUST_DRAIN: "60",
  });
  const { address, key } = other;
  const list = async (requestId: string) => {
    const headers = { "x-request-id": requestId };
    const call = { method: "GET", path: "/v1alpha1/transcripts", headers };
    return (await callRest(address, key, call)).status;
  };
  assert.equal(await list("fine"), 200);
  // An open stream holds the node while it drains and refuses calls.
  const stream = await openStream(address, { token: key });
  stream.send(streamingConfig({}, { interimResults: true }));
  stream.sendAudio(Buffer.from(scriptedSamples([1_300, 1_300], { pauseMs: 900 }).buffer));
  await stream.waitFor(() => finalsOf(stream.messages).length === 2);
  const ended = other.stop();
  await until(async () => (await list("refused")) === 503);
  stream.send({ audioContent: "" });
  await stream.closed;
  assert.equal(await ended, 0);
  const { errors } = other.output();
  assert.ok(!errors.includes("fine"));
  assert.match(errors, /^[\d:.]{12} DEBUG /m);
  for (const { transcript = "" } of finalsOf(stream.messages)) {
    assert.ok(transcript.trim().includes(" "), "a final result has several words");
    assert.ok(!errors.includes(transcript.trim()), transcript);
  }
  assert.match(errors, /^[\d:.]{12} INFO {2}call\.ended .*requestId=refused .*status=503/m);
});
