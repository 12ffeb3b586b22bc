// A service whose models run on an engine node, over TLS: jobs, their speakers and alignment jobs
// have the results of a service with models of its own, and /metrics shows the node.
import assert from "node:assert/strict";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, before, test } from "node:test";
import { type ServiceProcess, startService } from "../fault/process.ts";
import { cpuSlowness } from "../fixtures/cpu-slowness.ts";
import { espeak, flite, joined, silence } from "../fixtures/flite.ts";
import { freePort } from "../fixtures/free-port.ts";
import { wavOf } from "../fixtures/jobs-fixture.ts";
import { parseMetrics, sumOf } from "../fixtures/parse-metrics.ts";
import { openTestAuthority } from "../fixtures/test-authority.ts";
import { until } from "../fixtures/until.ts";
import { AlignmentCalls } from "../spec/alignment.ts";
import { pollJob, submit, textOf } from "../spec/jobs.ts";
import { openMediaHost, type MediaHost } from "../spec/media-host.ts";
import { openTestService, type TestService } from "../spec/service.ts";

const testModels = resolve(import.meta.dirname, "../models");
const credential = "the-credential-of-this-engine-node";
const opened = new AsyncDisposableStack();
let node: ServiceProcess;
/** The service that uses the engine node, and one with the same models. */
let front: TestService;
let own: TestService;
let host: MediaHost;

before(async () => {
  const folder = mkdtempSync(join(tmpdir(), "hlust-engine-node-"));
  opened.defer(() => rmSync(folder, { recursive: true, force: true }));
  const models = { HLUST_MODELS: join(folder, "models") };
  cpSync(join(testModels, "diarization"), join(models.HLUST_MODELS, "diarization"), {
    recursive: true,
  });
  const authority = await openTestAuthority(join(folder, "ca"));
  const { certificate, key } = await authority.issue("engine");
  const port = await freePort();
  node = opened.use(
    await startService(join(folder, "engine"), {
      ...models,
      HLUST_ROLE: "engine",
      HLUST_ENGINE_LISTEN: `127.0.0.1:${port}`,
      HLUST_ENGINE_CREDENTIAL: credential,
      HLUST_TLS_CERTIFICATE: certificate,
      HLUST_TLS_KEY: key,
      HLUST_METRICS_LISTEN: "127.0.0.1:0",
    }),
  );
  const said = [
    flite("good morning and welcome to the meeting of today", { voice: "rms" }),
    espeak("thank you it is good to be here again with all of you", { voice: "en+f3" }),
  ];
  const talk = wavOf(joined(...said.flatMap((samples) => [samples, silence(700)])));
  host = opened.use(await openMediaHost({ "/talk.wav": talk }));
  own = opened.use(await openTestService(models));
  front = opened.use(
    await openTestService({
      HLUST_ENGINES: `https://localhost:${port}`,
      HLUST_ENGINES_CA: authority.certificate,
      HLUST_ENGINE_CREDENTIAL: credential,
      HLUST_METRICS_LISTEN: "127.0.0.1:0",
    }),
  );
});
after(() => opened.disposeAsync(), { timeout: 120_000 * cpuSlowness });

const metrics = async () => {
  const response = await fetch(`${front.app.metricsAddress}/metrics`);
  return parseMetrics(await response.text(), "prometheus");
};

/** Submits the recording, and then aligns its transcript. Returns the segments of both. */
async function segmentsOf(service: TestService) {
  const { json, status } = await submit(service, `${host.address}/talk.wav`);
  assert.equal(status, 200, JSON.stringify(json));
  const { last } = await pollJob(service, json.name, 120 * cpuSlowness);
  assert.equal(last.state, "SUCCESS", JSON.stringify(last));
  const calls = new AlignmentCalls(service);
  const recognized = await calls.get(last.transcript);
  const { state } = await calls.ended(await calls.begin(last.transcript));
  assert.equal(state, "SUCCESS");
  return { recognized, aligned: await calls.get(last.transcript) };
}

test("jobs, speakers and alignment on an engine node have the results of models of one's own", async () => {
  await until(async () => sumOf(await metrics(), "hlust_engine_node_connected") === 1, 60_000);
  const [expected, found] = await Promise.all([segmentsOf(own), segmentsOf(front)]);
  assert.match(textOf(expected.recognized), /good morning/);
  assert.ok(expected.recognized.segments.length >= 2);
  assert.deepEqual(found.recognized.segments, expected.recognized.segments);
  for (const { recognized } of [expected, found]) {
    assert.deepEqual(Object.keys(recognized.metadata.speakers), ["1", "2"]);
  }
  assert.notEqual(found.aligned.version.name, found.recognized.version.name);
  assert.deepEqual(found.aligned.segments, expected.aligned.segments);
});

test("/metrics of the engine node shows its engines, and nothing of a database", async () => {
  const [, address = ""] = /^hlust: metrics at (\S+)$/m.exec(node.output().out) ?? [];
  const own = parseMetrics(await (await fetch(address)).text(), "prometheus");
  assert.equal(sumOf(own, "hlust_build_info", { role: "engine" }), 1);
  assert.equal(sumOf(own, "hlust_part_ready", { part: "engines" }), 1);
  assert.equal(sumOf(own, "hlust_part_ready", { part: "database" }), undefined);
  assert.ok((sumOf(own, "hlust_engine_audio_seconds_total", { use: "job" }) ?? 0) > 1);
  assert.ok((sumOf(own, "hlust_engine_resident_memory_bytes") ?? 0) > 1_000_000);
  assert.ok((sumOf(own, "hlust_disk_size_bytes") ?? 0) > 1_000_000);
  assert.equal(sumOf(own, "hlust_scrape_failures_total"), 0);
});

test("/metrics shows the engine node, and its loss", async () => {
  const valueOf = async (name: string) => sumOf(await metrics(), `hlust_engine_node_${name}`);
  assert.equal(await valueOf("connected"), 1);
  assert.equal(await valueOf("losses_total"), 0);
  await node.crash();
  await until(async () => (await valueOf("connected")) === 0, 60_000);
  assert.equal(await valueOf("losses_total"), 1);
});
