// HLUST_FRONT_PROCESSES: several processes that share the port, killed and replaced under load.
import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { Agent, type IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, before, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { cpuSlowness } from "../fixtures/cpu-slowness.ts";
import { speech } from "../fixtures/engine-pool-fixture.ts";
import { silence } from "../fixtures/flite.ts";
import { wavOf } from "../fixtures/jobs-fixture.ts";
import { openOtlpReceiver, type OtlpReceiver } from "../fixtures/otlp-receiver.ts";
import { parseMetrics, sumOf } from "../fixtures/parse-metrics.ts";
import { until, within } from "../fixtures/until.ts";
import { openMediaHost } from "../spec/media-host.ts";
import { callRest } from "../spec/service.ts";
import { finalsOf, openStream, streamingConfig, type TestStream } from "../spec/stream.ts";
import { callOf, openLoad } from "./calls-alone.ts";
import { scriptedSamples } from "./scripted-recording.ts";
import { startService, treeOf, type ServiceProcess } from "./process.ts";

/**
 * The streams that the account may have open. Those of a process that was killed count until its
 * lease is over, so the other tests stay far below.
 */
const streamsMax = 24;
const metricsToken = "the-token-of-these-metrics";
const timeout = 600_000 * cpuSlowness;
/** A front process uses 2 s of CPU time to start. */
const startMsMax = 240_000;
const opened = new AsyncDisposableStack();
let service: ServiceProcess;
let settingsFile: string;
let receiver: OtlpReceiver;

/** Writes the file of settings, with the origin of web pages that may call. */
function allowOrigin(origin: string): void {
  writeFileSync(settingsFile, `callers:\n  HLUST_ALLOWED_ORIGINS: [${origin}]\n`);
}

before(
  async () => {
    receiver = opened.use(await openOtlpReceiver());
    const data = mkdtempSync(join(tmpdir(), "hlust-fronts-"));
    opened.defer(() => rmSync(data, { recursive: true, force: true }));
    settingsFile = join(data, "hlust.yaml");
    allowOrigin("https://a.example");
    service = opened.use(
      await startService(data, {
        HLUST_CONFIG: settingsFile,
        HLUST_ENGINE: "scripted",
        HLUST_FRONT_PROCESSES: "2",
        HLUST_DRAIN: "1h",
        HLUST_ACCOUNT_STREAMS: `${streamsMax}`,
        HLUST_METRICS_TOKEN: metricsToken,
        HLUST_ACCESS_LOG: "true",
        OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
        OTEL_BSP_SCHEDULE_DELAY: "50",
      }),
    );
    // Otherwise a drain would wait for streams of a test that has failed.
    opened.defer(() => void service.child.kill("SIGTERM"));
  },
  { timeout },
);
after(() => opened.disposeAsync(), { timeout });

/** An utterance and the pause that ends it. */
const utterance = Buffer.concat(
  [speech(1_000), silence(1_000)].map(({ buffer }) => Buffer.from(buffer)),
);

/** Opens a stream, and waits for the final result of its first utterance. */
async function openSpoken(): Promise<TestStream> {
  const stream = await openStream(service.address, { token: service.key });
  stream.send(streamingConfig({ languageCode: "is-IS" }));
  await speak(stream);
  return stream;
}

async function speak(stream: TestStream): Promise<void> {
  const wanted = finalsOf(stream.messages).length + 1;
  stream.sendAudio(utterance);
  await stream.waitFor(() => finalsOf(stream.messages).length >= wanted);
}

/** Ends a stream as its client does. Returns its final results. */
async function endOf(stream: TestStream) {
  stream.send({ audioContent: "" });
  assert.equal(await within("the end of a stream", stream.closed), 1000);
  return finalsOf(stream.messages);
}

/** Returns the ids of the front processes. */
function fronts(): readonly number[] {
  return treeOf(service.pid)
    .filter(({ command, parent }) => parent === service.pid && /serve-front/.test(command))
    .map(({ pid }) => pid);
}

const callAlone = (path: string, options?: Parameters<typeof callOf>[2]) =>
  callOf(service, path, options);

async function scrape(format: "prometheus" | "openmetrics" = "prometheus") {
  const accept = format === "openmetrics" ? "application/openmetrics-text; version=1.0.0" : "*/*";
  const headers = { accept, authorization: `Bearer ${metricsToken}` };
  const response = await fetch(`${service.address}/metrics`, { headers });
  assert.equal(response.status, 200);
  return parseMetrics(await response.text(), format);
}

const list = "/v1alpha1/transcripts";
const listCalls = async () =>
  sumOf(await scrape(), "hlust_calls_total", {
    rpc_method: "hlust.transcripts.v1alpha1.Transcripts/ListTranscripts",
    code: "OK",
  });

test("one scrape, on any front process, has the calls of all", { timeout }, async () => {
  const before = (await listCalls()) ?? 0;
  const calls = 20;
  for (let call = 0; call < calls; call += 1) assert.equal((await callAlone(list)).statusCode, 200);
  for (let time = 0; time < 4; time += 1) assert.equal(await listCalls(), before + calls);
  const metrics = await scrape();
  for (const process of ["main", "front1", "front2"]) {
    const valueOf = (name: string) => sumOf(metrics, name, { process }) ?? NaN;
    assert.ok(valueOf("process_cpu_seconds_total") > 0.1, process);
    assert.ok(valueOf("process_resident_memory_bytes") > 20_000_000, process);
    assert.ok(Math.abs(valueOf("process_start_time_seconds") - Date.now() / 1000) < 3_600, process);
    assert.ok(valueOf("nodejs_eventloop_delay_p99_seconds") >= 0, process);
    assert.ok(valueOf("nodejs_eventloop_utilization_ratio") <= 1, process);
  }
  const other = await scrape("openmetrics");
  assert.deepEqual(
    Array.from(other.keys()),
    Array.from(metrics.values(), ({ name, type }) =>
      type === "counter" ? name.replace(/_total$/, "") : name,
    ),
  );
  assert.equal((await callAlone("/metrics", { token: "another" })).statusCode, 401);
  const page = readFileSync(resolve(import.meta.dirname, "../../docs/operations.md"), "utf8");
  const documented = Array.from(page.matchAll(/^\| `(hlust_front_\w+)` \|/gm), ([, name]) => name);
  assert.deepEqual(
    [...metrics.keys()].filter((name) => name.startsWith("hlust_front_")),
    documented,
  );
});

test("bytes of sockets cause no collection of the whole heap, in any process", () => {
  const serving = treeOf(service.pid).filter(({ command }) =>
    /hlust\.ts|serve-front/.test(command),
  );
  assert.equal(serving.length, 3);
  for (const { command } of serving) {
    assert.match(command, / --external-memory-accounted-in-global-limit /);
  }
});

test("SIGHUP changes the settings of every front process", { timeout }, async () => {
  const isAllowed = async (origin: string) =>
    (await callAlone(list, { origin })).headers["access-control-allow-origin"] === origin;
  const [first, second] = ["https://a.example", "https://b.example"] as const;
  assert.ok((await isAllowed(first)) && !(await isAllowed(second)));
  allowOrigin(second);
  service.child.kill("SIGHUP");
  const reloaded = () =>
    service
      .output()
      .errors.split("\n")
      .filter((line) => line.includes(`"event":"settings.reloaded"`))
      .map((line) => String(JSON.parse(line).process));
  await until(async () => Promise.resolve(reloaded().length === 3));
  assert.deepEqual(reloaded().toSorted(), ["front1", "front2", "undefined"]);
  for (let time = 0; time < 4; time += 1) {
    assert.ok((await isAllowed(second)) && !(await isAllowed(first)));
  }
});

test(
  "a job of a call on a front process is a step of the caller's trace, and log lines name the process",
  { timeout },
  async () => {
    const recording = wavOf(scriptedSamples([700], { pauseMs: 600 }));
    await using host = await openMediaHost({ "/talk.wav": recording });
    const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
    const requestId = "traced-1";
    const { status } = await callRest(service.address, service.key, {
      method: "POST",
      path: "/v1alpha1/transcriptjob:submit",
      body: {
        metadata: { languageCode: "is-IS", fileType: "AUDIO" },
        useUri: true,
        uri: `${host.address}/talk.wav`,
      },
      headers: { "x-request-id": requestId, traceparent: `00-${traceId}-b7ad6b7169203331-01` },
    });
    assert.equal(status, 200);
    const named = (name: string) => receiver.named(name).filter((span) => span.traceId === traceId);
    const method = "hlust.transcripts.v1alpha1.Transcripts/SubmitTranscriptJob";
    await until(async () => Promise.resolve(named("process job").length === 1), startMsMax);
    await until(async () => Promise.resolve(named(method).length === 1));
    assert.equal(named("process job")[0]?.parentSpanId, named(method)[0]?.spanId);
    const linesWith = (part: string): Record<string, unknown>[] =>
      service
        .output()
        .errors.split("\n")
        .filter((line) => line.startsWith("{") && line.includes(part))
        .map((line) => JSON.parse(line));
    await until(async () => Promise.resolve(linesWith(`"${requestId}"`).length > 0));
    // A front process has the call, and the main process, which is not named, the job.
    const isOfFront = (line: Record<string, unknown>) =>
      /^front[12]$/.test(String(line["process"]));
    assert.ok(linesWith(`"${requestId}"`).every(isOfFront));
    const [started] = linesWith("job.started");
    assert.deepEqual([started?.["traceId"], started?.["process"]], [traceId, undefined]);
  },
);

test("the limit of streams counts those of all front processes", { timeout }, async () => {
  const countOf = async (name: string) => sumOf(await scrape(), name) ?? 0;
  const finals = await countOf("hlust_live_final_lag_seconds_count");
  const streams = await Promise.all(Array.from({ length: streamsMax }, openSpoken));
  // Each stream counts once, although its audio passes through two processes.
  assert.equal(await countOf("hlust_live_streams"), streamsMax);
  assert.equal(await countOf("hlust_live_final_lag_seconds_count"), finals + streamsMax);
  const used = async () => {
    const metrics = await scrape();
    return ["front1", "front2"].map(
      (process) => sumOf(metrics, "hlust_front_connections", { process }) ?? 0,
    );
  };
  await until(async () => (await used()).every((connections) => connections >= streamsMax / 2));
  for (let time = 0; time < 4; time += 1) {
    // Nodes and front processes share their counts each second.
    await until(isRefused);
  }
  await Promise.all(streams.map(endOf));
});

/** Returns whether one more stream is refused. */
async function isRefused(): Promise<boolean> {
  try {
    const stream = await openStream(service.address, { token: service.key });
    stream.terminate();
    return false;
  } catch (error) {
    assert.match(String(error), /HTTP 429/);
    return true;
  }
}

test(
  "a front process that is killed takes only its own streams with it, and is replaced",
  { timeout },
  async () => {
    const reference = await openSpoken();
    await speak(reference);
    const expected = await endOf(reference);
    assert.equal(expected.length, 2);
    const counted = (await listCalls()) ?? 0;

    const streams = await Promise.all(Array.from({ length: 4 }, openSpoken));
    const ends = new Map<TestStream, number>();
    for (const stream of streams) void stream.closed.then((code) => ends.set(stream, code));
    const before = fronts();
    assert.equal(before.length, 2);
    const [killed] = before;
    process.kill(killed ?? assert.fail("no front process"), "SIGKILL");
    await until(async () => Promise.resolve(ends.size === 2));
    assert.deepEqual([...ends.values()], [1006, 1006]);
    // Another front process serves at once, and the one that was killed comes back.
    assert.equal((await callAlone(list)).statusCode, 200);
    await until(async () => Promise.resolve(startedCount() === 1), startMsMax);
    assert.equal(fronts().length, 2);
    assert.ok(!fronts().includes(killed ?? 0));
    for (const stream of streams.filter((each) => !ends.has(each))) {
      await speak(stream);
      assert.deepEqual(await endOf(stream), expected);
    }
    // What the killed one had counted at the last scrape is not lost.
    assert.ok(((await listCalls()) ?? 0) >= counted + 1);
    assert.equal(sumOf(await scrape(), "hlust_front_losses_total"), 1);
  },
);

test(
  "a front process that hangs gets no more connections, is killed, and loses no call on its way to it",
  { timeout },
  async () => {
    const startedBefore = startedCount();
    const [hung = assert.fail("no front process")] = fronts();
    process.kill(hung, "SIGSTOP");
    const calls = Array.from({ length: 12 }, async () => (await callAlone(list)).statusCode);
    let ended = 0;
    for (const call of calls) void call.then(() => (ended += 1));
    // The other one answers its share; the rest waits for the one that does not run.
    await until(async () => Promise.resolve(ended >= 4));
    assert.ok(ended < calls.length, "no call waits for the stopped process");
    // After a few seconds of silence, the other one gets all new connections, although it then has
    // more than the one that hangs.
    const agents: Agent[] = [];
    const waiting: Promise<IncomingMessage>[] = [];
    for (let inTurn = 0; inTurn < calls.length;) {
      // The connection stays open after the call.
      const agent = new Agent({ keepAlive: true });
      agents.push(agent);
      const call = callAlone(list, { agent });
      waiting.push(call);
      inTurn = (await Promise.race([call, delay(2_000 * cpuSlowness)])) ? inTurn + 1 : 0;
    }
    assert.doesNotMatch(service.output().errors, /front\.hung/);
    // It is killed by the main process, and its connections go to another one.
    assert.deepEqual(
      new Set(await within("all calls", Promise.all(calls), startMsMax)),
      new Set([200]),
    );
    assert.match(service.output().errors, new RegExp(`"pid":${hung}.*"event":"front\\.hung"`));
    await until(async () => Promise.resolve(startedCount() > startedBefore), startMsMax);
    assert.ok(!fronts().includes(hung));
    for (const { statusCode } of await Promise.all(waiting)) assert.equal(statusCode, 200);
    for (const agent of agents) agent.destroy();
  },
);

/** Returns how many front processes were taken for hung. */
const hungCount = () => service.output().errors.match(/front\.hung/g)?.length ?? 0;

/** Returns how many front processes were started in place of others. */
const startedCount = () => service.output().errors.match(/front\.started/g)?.length ?? 0;

test(
  "SIGUSR2 replaces the front processes without a refused call, and open streams go on",
  { timeout },
  async () => {
    const before = fronts();
    const streams = await Promise.all(Array.from({ length: 4 }, openSpoken));
    await using load = openLoad(service, list);
    service.child.kill("SIGUSR2");
    // The first one is replaced when its streams have ended; until then, both serve.
    await until(async () => Promise.resolve(fronts().length === 3), startMsMax);
    await until(async () => Promise.resolve(load.calls > 50), startMsMax);
    for (const stream of streams) await speak(stream);
    const finals = await Promise.all(streams.map(endOf));
    for (const each of finals) assert.deepEqual(each, finals[0]);
    assert.equal(finals[0]?.length, 2);
    const isReplaced = async () =>
      Promise.resolve(service.output().errors.match(/front\.replaced/g)?.length === 2);
    await until(isReplaced, startMsMax);
    assert.deepEqual(await load.stop(), []);
    assert.deepEqual(
      fronts().filter((pid) => before.includes(pid)),
      [],
    );
  },
);

test(
  "front processes drain: new calls are refused, open streams go on, and a second signal ends them",
  { timeout },
  async () => {
    const streams = await Promise.all(Array.from({ length: 6 }, openSpoken));
    const { child } = service;
    child.kill("SIGTERM");
    // Calls at the same time are shared out among both processes.
    const four = <T>(call: () => Promise<T>) => Promise.all(Array.from({ length: 4 }, call));
    const areRefused = async () =>
      (await four(() => callAlone(list))).every(({ statusCode }) => statusCode === 503);
    await until(areRefused);
    const reports = await four(async () => (await fetch(`${service.address}/readyz`)).json());
    for (const report of reports) assert.equal(Reflect.get(Object(report), "status"), "draining");
    assert.equal((await callAlone("/healthz")).statusCode, 200);
    await assert.rejects(openStream(service.address, { token: service.key }), /HTTP 503/);
    await Promise.all(streams.map(speak));
    const [ended = assert.fail("no stream"), ...left] = streams;
    assert.equal((await endOf(ended)).length, 2);

    // One that hangs does not hold the node: it is killed before it is taken for hung.
    const hungBefore = hungCount();
    const [stopped = assert.fail("no front process")] = fronts();
    process.kill(stopped, "SIGSTOP");
    const exited = once(child, "exit");
    child.kill("SIGTERM");
    const codes = await within(
      "all streams end",
      Promise.all(left.map(({ closed }) => closed)),
      startMsMax,
    );
    assert.deepEqual(new Set(codes), new Set([1006, 1012]));
    for (const [at, code] of codes.entries()) {
      if (code === 1012) assert.equal(finalsOf(left[at]?.messages ?? []).length, 2);
    }
    assert.deepEqual(await within("the process ends", exited), [0, null]);
    assert.equal(hungCount(), hungBefore);
  },
);
