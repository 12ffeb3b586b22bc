// /metrics of a real service: every family gets a value when the thing happens.
import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import process from "node:process";
import { after, before, test } from "node:test";
import { createClient } from "@connectrpc/connect";
import {
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
} from "@connectrpc/connect-node";
import { Transcripts } from "../../src/gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { treeOf } from "../fault/process.ts";
import { speak } from "../fixtures/flite.ts";
import { parseMetrics, sumOf, type ParsedMetrics } from "../fixtures/parse-metrics.ts";
import { until } from "../fixtures/until.ts";
import { openReceiver } from "../fixtures/webhooks-fixture.ts";
import { AlignmentCalls } from "../spec/alignment.ts";
import { pollJob, submit } from "../spec/jobs.ts";
import { openMediaHost, type MediaHost } from "../spec/media-host.ts";
import { openTestService, pcmOf, type TestService } from "../spec/service.ts";
import { openStream, streamingConfig } from "../spec/stream.ts";

const model = "pocketsphinx-en-US";

let service: TestService;
let host: MediaHost;
const opened = new AsyncDisposableStack();
const talk = speak("thank you very much for your letter");

before(async () => {
  host = opened.use(
    await openMediaHost({ "/talk.wav": talk, "/text.wav": Buffer.from("no sound at all") }),
  );
  const settings = {
    HLUST_METRICS_LISTEN: "127.0.0.1:0",
    HLUST_WYOMING_LISTEN: "127.0.0.1:0",
    HLUST_ACCOUNT_STREAMS: "1",
  };
  service = opened.use(await openTestService(settings));
});
after(() => opened.disposeAsync());

async function scrape(): Promise<ParsedMetrics> {
  const response = await fetch(`${service.app.metricsAddress}/metrics`);
  assert.equal(response.status, 200);
  return parseMetrics(await response.text(), "prometheus");
}

/** A sample and the least by which it rises. */
type Rise = readonly [name: string, labels: Readonly<Record<string, string>>, by?: number];

/** Acts, and waits until the samples have risen. */
async function rises(act: () => Promise<unknown>, expected: readonly Rise[]): Promise<void> {
  const earlier = await scrape();
  await act();
  let missing: readonly string[] = [];
  await until(async () => {
    const later = await scrape();
    missing = expected.flatMap(([name, labels, by = 1]) => {
      const [was, is] = [sumOf(earlier, name, labels), sumOf(later, name, labels)];
      // A series that did not exist cannot rise for Prometheus.
      const hasRisen = (is ?? 0) >= (was ?? 0) + by;
      return hasRisen ? [] : [`${name}${JSON.stringify(labels)}: ${was} to ${is}, not by ${by}`];
    });
    return missing.length === 0;
  }, 30_000).catch(() => assert.deepEqual(missing, []));
}

const list = "hlust.transcripts.v1alpha1.Transcripts/ListTranscripts";
const models = "hlust.speech.v2beta1.Speech/ListModels";
const streaming = "hlust.speech.v2beta1.Speech/StreamingRecognize";

const transports = {
  grpc: createGrpcTransport,
  grpc_web: createGrpcWebTransport,
  connect: createConnectTransport,
} as const;

test("calls are counted by method, protocol and code, and unary calls are timed", async () => {
  await rises(
    () => service.call("GET", "/v1alpha1/transcripts"),
    [
      ["hlust_calls_total", { rpc_method: list, protocol: "rest", code: "OK" }],
      ["rpc_server_call_duration_seconds_count", { rpc_method: list }],
    ],
  );
  await rises(
    () => service.call("GET", "/v1alpha1/transcripts/none"),
    [["hlust_calls_total", { protocol: "rest", code: "NOT_FOUND" }]],
  );
  await rises(
    () => service.call("GET", "/v1/transcriptsss"),
    [["hlust_calls_total", { rpc_method: "_OTHER", protocol: "rest", code: "NOT_FOUND" }]],
  );
  await rises(
    () => service.call("GET", "/v1/models"),
    [
      ["hlust_calls_total", { protocol: "openai", code: "OK" }],
      ["rpc_server_call_duration_seconds_count", { rpc_method: "openai" }],
    ],
  );
});

for (const [protocol, open] of Object.entries(transports)) {
  test(`calls over ${protocol} are counted, also if their key is refused`, async () => {
    const client = createClient(
      Transcripts,
      open({ baseUrl: service.address, httpVersion: protocol === "grpc" ? "2" : "1.1" }),
    );
    const listed = async (key: string) =>
      await client
        .listTranscripts({}, { headers: { authorization: `Bearer ${key}` } })
        .catch((error: unknown) => error);
    await rises(
      () => listed(service.key),
      [["hlust_calls_total", { rpc_method: list, protocol, code: "OK" }]],
    );
    await rises(
      () => listed("wrong"),
      [
        ["hlust_calls_total", { rpc_method: list, protocol, code: "UNAUTHENTICATED" }],
        ["hlust_refusals_total", { kind: "auth", reason: "TOKEN_INVALID" }],
      ],
    );
    await rises(
      () => client.getTranscript({ name: "transcripts/none" }, bearer()).catch(() => {}),
      [["hlust_calls_total", { protocol, code: "NOT_FOUND" }]],
    );
    const { samples = [] } = (await scrape()).get("hlust_calls_active") ?? {};
    assert.deepEqual(
      samples.filter(({ value }) => value !== 0),
      [],
      "no call is left open",
    );
  });
}

function bearer() {
  return { headers: { authorization: `Bearer ${service.key}` } };
}

test("a live stream is counted while it is open, with its audio and the lag of its results", async () => {
  const open = async () => await openStream(service.address, { token: service.key });
  let stream: Awaited<ReturnType<typeof open>> | undefined;
  await rises(async () => {
    stream = await open();
    stream.send(streamingConfig());
    stream.sendAudio(pcmOf(talk));
    await stream.waitFor(({ result }) => (result?.results?.length ?? 0) > 0);
  }, [
    ["hlust_live_streams", { model }],
    ["hlust_calls_active", { protocol: "websocket" }],
    ["hlust_engine_sessions", { model }],
    ["hlust_live_interim_lag_seconds_count", { model }],
    ["hlust_live_audio_seconds_total", { model }, pcmOf(talk).length / 32_000 - 0.1],
  ]);
  await rises(
    () => open().catch(() => {}),
    [
      ["hlust_refusals_total", { kind: "limit", reason: "TOO_MANY_STREAMS" }],
      [
        "hlust_calls_total",
        { rpc_method: streaming, protocol: "websocket", code: "RESOURCE_EXHAUSTED" },
      ],
    ],
  );
  await rises(async () => {
    stream?.send({ audioContent: "" });
    assert.equal(await stream?.closed, 1000);
  }, [
    ["hlust_live_final_lag_seconds_count", { model }],
    ["hlust_live_streams_ended_total", { model, end: "complete" }],
    ["hlust_calls_total", { rpc_method: streaming, protocol: "websocket", code: "OK" }],
    ["hlust_engine_work_cpu_seconds_total", { model, use: "live" }, 0.000_001],
    ["hlust_engine_audio_seconds_total", { model, use: "live" }, 0.1],
  ]);
  assert.equal(sumOf(await scrape(), "hlust_live_streams", { model }), 0);
  await rises(
    () => openStream(service.address, { token: "wrong" }).catch(() => {}),
    [["hlust_calls_total", { protocol: "websocket", code: "UNAUTHENTICATED" }]],
  );
});

test("a client that leaves a stream is counted as such", async () => {
  await rises(async () => {
    const stream = await openStream(service.address, { token: service.key });
    stream.send(streamingConfig());
    stream.sendAudio(pcmOf(talk));
    await stream.waitFor(({ result }) => (result?.results?.length ?? 0) > 0);
    stream.terminate();
  }, [
    ["hlust_live_streams_ended_total", { model, end: "left" }],
    ["hlust_calls_total", { rpc_method: streaming, protocol: "websocket", code: "CANCELLED" }],
  ]);
});

test("calls in the protocols of other services are counted, over WebSocket and TCP", async () => {
  await rises(async () => {
    const stream = await openStream(service.address, { token: service.key, path: "/vosk/en-US" });
    stream.send({ eof: 1 });
    await stream.closed;
  }, [["hlust_calls_total", { rpc_method: streaming, protocol: "vosk", code: "OK" }]]);
  await rises(
    () => openStream(service.address, { token: "wrong", path: "/v1/listen" }).catch(() => {}),
    [["hlust_calls_total", { protocol: "deepgram", code: "UNAUTHENTICATED" }]],
  );
  await rises(async () => {
    const { hostname, port } = new URL(`tcp://${service.app.wyomingAddress}`);
    const socket = connect(Number(port), hostname);
    socket.write('{"type":"describe"}\n');
    await once(socket, "data");
    socket.destroy();
  }, [["hlust_calls_total", { rpc_method: models, protocol: "wyoming" }]]);
});

test("jobs, their media and webhooks are counted", async () => {
  const kind = "transcript";
  await using receiver = await openReceiver();
  const made = await service.call("POST", "/v1/webhooks", { url: receiver.url });
  assert.equal(made.status, 200);
  let transcript = "";
  await rises(async () => {
    const { json } = await submit(service, `${host.address}/talk.wav`);
    const { last } = await pollJob(service, json.name);
    assert.equal(last.state, "SUCCESS");
    ({ transcript } = last);
    await until(async () => receiver.received.length === 1, 60_000);
  }, [
    ["hlust_job_attempts_total", { kind }],
    ["hlust_job_attempts_ended_total", { kind, result: "succeeded" }],
    ["hlust_job_audio_seconds_total", { kind }, 0.5],
    ["hlust_job_speed_ratio_count", { kind }],
    ["hlust_media_operations_total", { operation: "put", result: "ok" }],
    ["hlust_media_operation_duration_seconds_count", { operation: "put" }],
    ["hlust_media_written_bytes_total", {}, talk.length],
    ["hlust_engine_audio_seconds_total", { use: "job" }, 0.1],
    ["hlust_webhook_deliveries_total", { result: "delivered" }],
  ]);
  await rises(async () => {
    const { json } = await submit(service, `${host.address}/text.wav`);
    assert.equal((await pollJob(service, json.name)).last.state, "ERROR");
  }, [
    ["hlust_job_attempts_ended_total", { kind, result: "failed" }],
    ["hlust_job_failures_total", { kind, reason: "MEDIA_INVALID" }],
  ]);
  const alignment = new AlignmentCalls(service);
  const aligned = { kind: "alignment" };
  await rises(async () => {
    const { state } = await alignment.ended(await alignment.begin(transcript));
    assert.equal(state, "SUCCESS");
  }, [
    ["hlust_job_attempts_total", aligned],
    ["hlust_job_attempts_ended_total", { ...aligned, result: "succeeded" }],
    ["hlust_job_audio_seconds_total", aligned, 0.5],
    ["hlust_job_speed_ratio_count", aligned],
  ]);
  await alignment.upload(transcript, Buffer.from("no sound at all"));
  await rises(async () => {
    const { state } = await alignment.ended(await alignment.begin(transcript));
    assert.equal(state, "ERROR");
  }, [
    ["hlust_job_attempts_ended_total", { ...aligned, result: "failed" }],
    ["hlust_job_failures_total", { ...aligned, reason: "MEDIA_INVALID" }],
  ]);
});

test("a webhook whose receiver refuses its messages is counted, and its message waits", async () => {
  await using refusing = await openMediaHost({});
  const url = `${refusing.address}/gone`;
  const made = await service.call("POST", "/v1/webhooks", { url });
  assert.equal(made.status, 200);
  await rises(async () => {
    const { json } = await submit(service, `${host.address}/text.wav`);
    await pollJob(service, json.name);
  }, [["hlust_webhook_deliveries_total", { result: "refused" }]]);
  // The queues are read again after 15 s.
  await until(async () => (sumOf(await scrape(), "hlust_webhook_pending") ?? 0) >= 1, 60_000);
  assert.ok((sumOf(await scrape(), "hlust_webhook_oldest_pending_seconds") ?? 0) > 0);
  const { webhook } = made.json;
  assert.equal((await service.call("DELETE", `/v1/${webhook.name}`)).status, 200);
});

test("an engine process that is killed is counted and replaced", async () => {
  const engines = () =>
    treeOf(process.pid).filter(({ command }) => command.includes("engine-process.ts"));
  const ready = async () =>
    sumOf(await scrape(), "hlust_engine_processes", { model, state: "ready" }) === 1;
  await until(ready, 60_000);
  const killed = engines()[0]?.pid;
  assert.ok(killed);
  await rises(
    () => Promise.resolve(process.kill(killed, "SIGKILL")),
    [["hlust_engine_exits_total", { model, reason: "crashed" }]],
  );
  await until(ready, 60_000);
  const metrics = await scrape();
  assert.ok((sumOf(metrics, "hlust_engine_resident_memory_bytes", { model }) ?? 0) > 1_000_000);
  assert.ok((sumOf(metrics, "hlust_engine_process_cpu_seconds_total", { model }) ?? 0) > 0);
});

test("a call that the node has no room for is counted by its reason", async () => {
  const leave = new AbortController();
  const headers = { authorization: `Bearer ${service.key}` };
  const { signal } = leave;
  const watch = async () => {
    const answer = await fetch(`${service.address}/v1alpha1/alignmentjobs:watch`, {
      headers,
      signal,
    });
    assert.equal(answer.status, 429);
  };
  // An account may watch its alignment jobs with 100 streams. Each begins with its first message.
  await rises(
    () => Promise.any(Array.from({ length: 101 }, watch)),
    [["hlust_refusals_total", { kind: "admission", reason: "WATCHES_FULL" }]],
  );
  leave.abort();
});

test("requests that are not calls are counted by route", async () => {
  for (const [path, route] of [
    ["/healthz", "health"],
    ["/docs", "docs"],
    ["/console/", "console"],
  ] as const) {
    await rises(async () => {
      await (await fetch(`${service.address}${path}`)).text();
    }, [
      ["hlust_http_responses_total", { http_route: route }],
      [
        "http_server_request_duration_seconds_count",
        { http_route: route, http_request_method: "GET" },
      ],
    ]);
  }
});

test("the state of the node has plausible values", async () => {
  const metrics = await scrape();
  const valueOf = (name: string, labels = {}) => sumOf(metrics, name, labels) ?? NaN;
  for (const part of ["database", "engines", "media", "sandbox"]) {
    assert.equal(valueOf("hlust_part_ready", { part }), 1, part);
  }
  assert.equal(valueOf("hlust_ready"), 1);
  assert.equal(valueOf("hlust_draining"), 0);
  assert.equal(valueOf("hlust_build_info"), 1);
  assert.equal(valueOf("hlust_scrape_failures_total"), 0);
  assert.equal(valueOf("hlust_tls_certificate_expiry_timestamp_seconds"), 0);
  for (const { name, samples } of metrics.values()) {
    if (!/^(?:process|nodejs)_/.test(name)) continue;
    assert.deepEqual(
      samples.map(({ labels }) => labels),
      [{ process: "main" }],
    );
  }
  assert.ok(Math.abs(valueOf("process_start_time_seconds") - Date.now() / 1000) < 3_600);
  assert.ok(valueOf("process_cpu_seconds_total") > 0.1);
  assert.ok(valueOf("process_resident_memory_bytes") > 20_000_000);
  assert.ok(valueOf("process_open_fds") < valueOf("process_max_fds"));
  assert.ok(valueOf("nodejs_eventloop_utilization_ratio") <= 1);
  assert.ok(valueOf("nodejs_eventloop_delay_p99_seconds") >= 0);
  assert.ok(valueOf("hlust_disk_free_bytes") < valueOf("hlust_disk_size_bytes"));
  assert.ok(valueOf("db_client_connections") >= 1);
  assert.equal(valueOf("db_client_connection_max"), 20);
  assert.ok(valueOf("db_client_connection_wait_time_seconds_count") > 10);
  assert.ok(valueOf("hlust_live_streams_max", { model }) > 0);
});

test("the last scrapes of a node show that it is draining", async () => {
  service.app.leave();
  const metrics = await scrape();
  assert.equal(sumOf(metrics, "hlust_draining"), 1);
  assert.equal(sumOf(metrics, "hlust_ready"), 0);
});
