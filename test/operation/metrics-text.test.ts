// The text of /metrics: both formats, read by a second implementation and by promtool; the families
// that are documented; series that no caller can add; and what a scrape shows of a database that
// does not answer, and of an engine that is stopped for a while.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { globSync, readFileSync } from "node:fs";
import { connect as connectHttp2 } from "node:http2";
import { connect } from "node:net";
import { join, resolve } from "node:path";
import process from "node:process";
import { text } from "node:stream/consumers";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { postgresOf, treeOf } from "../fault/process.ts";
import { scriptedSamples } from "../fault/scripted-recording.ts";
import { parseMetrics, seriesOf, sumOf, type ParsedMetrics } from "../fixtures/parse-metrics.ts";
import { until } from "../fixtures/until.ts";
import { openTestService, type TestService } from "../spec/service.ts";
import { finalsOf, openStream, streamingConfig } from "../spec/stream.ts";

const familiesMax = 60;
const seriesMax = 2_000;
const connectionsMax = 40;
/** For how long the engine process is stopped after an utterance. */
const stoppedMs = 1_500;
const chunkMs = 100;
const chunkBytes = chunkMs * 32;
const openMetricsType = "application/openmetrics-text; version=1.0.0; charset=utf-8";

let service: TestService;
const opened = new AsyncDisposableStack();

before(async () => {
  const settings = {
    HLUST_ENGINE: "scripted",
    HLUST_METRICS_LISTEN: "127.0.0.1:0",
    HLUST_CONNECTIONS_MAX: `${connectionsMax}`,
  };
  service = opened.use(await openTestService(settings));
});
after(() => opened.disposeAsync());

async function scrapeText(accept = ""): Promise<string> {
  const response = await fetch(`${service.app.metricsAddress}/metrics`, { headers: { accept } });
  assert.equal(response.status, 200);
  return await response.text();
}

async function scrape(): Promise<ParsedMetrics> {
  return parseMetrics(await scrapeText(), "prometheus");
}

function bearer() {
  return { headers: { authorization: `Bearer ${service.key}` } };
}

test("both formats are valid and show the same", async () => {
  const [plain, open] = [await scrapeText(), await scrapeText(openMetricsType)];
  const metrics = parseMetrics(plain, "prometheus");
  const opened = parseMetrics(open, "openmetrics");
  assert.ok(metrics.size <= familiesMax, `${metrics.size} families`);
  const named = (name: string, type: string) =>
    type === "counter" ? name.replace(/_total$/, "") : name;
  assert.deepEqual(
    Array.from(metrics.values(), ({ name, type }) => [named(name, type), type]),
    Array.from(opened.values(), ({ name, type }) => [name, type]),
  );
  const seriesIn = (all: ParsedMetrics) =>
    [...all.values()].flatMap(({ samples }) => samples.map((sample) => seriesOf(sample)));
  assert.deepEqual(seriesIn(metrics), seriesIn(opened));
  // A scrape in one format leaves the other as it was.
  assert.deepEqual(seriesIn(parseMetrics(await scrapeText(), "prometheus")), seriesIn(metrics));
  // promtool fails for names, types and units against the conventions.
  execFileSync("promtool", ["check", "metrics"], { input: plain, encoding: "utf8" });
  for (const family of metrics.values()) {
    // This service uses no engine nodes; test/operation/engine-node.test.ts has one.
    const isOfNodes = family.name.startsWith("hlust_engine_node_");
    assert.equal(family.samples.length > 0, !isOfNodes, family.name);
    assert.equal(family.type === "counter", family.name.endsWith("_total"), family.name);
  }
});

test("docs/operations.md lists every family", async () => {
  const page = readFileSync(resolve(import.meta.dirname, "../../docs/operations.md"), "utf8");
  const [, section = ""] = page.split("\n## Metrics\n");
  const listed = Array.from(
    (section.split("\n## ", 1)[0] ?? "").matchAll(/^\| `([a-z0-9_]+)` \|/gm),
    ([, name]) => name,
  );
  assert.deepEqual(new Set(listed), new Set((await scrape()).keys()));
});

test("no caller can add series without bound, or a label of their choice", async () => {
  const marks: string[] = [];
  const mark = () => {
    const name = `x${randomBytes(6).toString("hex")}`;
    marks.push(name);
    return name;
  };
  const methods = ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PROPFIND"];
  for (let at = 0; at < 210; at += 1) {
    const method = methods[at % methods.length] ?? "GET";
    const path = `/${["v1", "v1alpha1/transcripts", "media", mark()][at % 4]}/${mark()}?a=${mark()}`;
    const headers = { authorization: `Bearer ${at % 3 === 0 ? service.key : mark()}` };
    await (await fetch(`${service.address}${path}`, { method, headers })).text();
  }
  const session = connectHttp2(service.address);
  session.on("error", () => {});
  for (let at = 0; at < 60; at += 1) {
    const stream = session.request({
      ":method": "POST",
      ":path": `/hlust.${mark()}/${mark()}`,
      "content-type": at % 2 === 0 ? "application/grpc" : `application/${mark()}`,
    });
    stream.end();
    await text(stream);
  }
  session.close();
  const shown = await scrapeText();
  assert.ok(shown.includes('rpc_method="_OTHER"'));
  for (const name of marks) assert.ok(!shown.includes(name), name);
  const count = [...parseMetrics(shown, "prometheus").values()].flatMap(
    ({ samples }) => samples,
  ).length;
  assert.ok(count <= seriesMax, `${count} series`);
  assert.ok(!shown.includes(service.key));
});

test("the listener answers health checks, and nothing else", async () => {
  const address = service.app.metricsAddress ?? "";
  assert.deepEqual(await (await fetch(`${address}/healthz`)).json(), { status: "ok" });
  const ready: unknown = await (await fetch(`${address}/readyz`)).json();
  assert.ok(typeof ready === "object" && ready !== null && "status" in ready);
  assert.equal(ready.status, "ready");
  for (const path of ["/", "/v1alpha1/transcripts", "/console/", "/metricsx"]) {
    assert.equal((await fetch(`${address}${path}`, bearer())).status, 404, path);
  }
  assert.equal((await fetch(`${address}/metrics`, { method: "POST" })).status, 405);
  assert.equal((await service.call("GET", "/metrics")).status, 404, "not on the common port");
});

test("a database that does not answer is shown as not ready, with the calls that use it", async () => {
  const database = postgresOf(service.dataFolder).map(({ pid }) => pid);
  assert.ok(database.length > 0);
  const valueOf = async (name: string, labels: Readonly<Record<string, string>>) =>
    sumOf(await scrape(), name, labels);
  const isReady = async () => await valueOf("hlust_part_ready", { part: "database" });
  for (const pid of database) process.kill(pid, "SIGSTOP");
  let listed: ReturnType<TestService["call"]> | undefined;
  try {
    listed = service.call("GET", "/v1alpha1/transcripts");
    await until(async () => (await isReady()) === 0, 60_000);
    assert.equal(await valueOf("hlust_ready", {}), 0);
    assert.equal(await valueOf("hlust_part_ready", { part: "sandbox" }), 1);
    assert.ok(((await valueOf("db_client_connections", { state: "used" })) ?? 0) >= 1);
  } finally {
    for (const pid of database) process.kill(pid, "SIGCONT");
  }
  await listed;
  await until(async () => (await isReady()) === 1, 60_000);
});

test("the lag of results is the time for which a caller has waited for them", async () => {
  const engine = treeOf(process.pid).find(({ command }) => command.includes("engine-process.ts"));
  assert.ok(engine);
  const stream = await openStream(service.address, { token: service.key });
  stream.send(streamingConfig({}, { interimResults: true }));
  const spoken = Buffer.from(scriptedSamples([700], { pauseMs: 900 }).buffer);
  // Audio comes as it is spoken.
  const speak = async () => {
    for (let at = 0; at < spoken.length; at += chunkBytes) {
      stream.sendAudio(spoken.subarray(at, at + chunkBytes));
      await sleep(chunkMs);
    }
  };
  await speak();
  await stream.waitFor(() => finalsOf(stream.messages).length === 1);
  const lagOf = (metrics: ParsedMetrics, kind: string) =>
    sumOf(metrics, `hlust_live_${kind}_lag_seconds_sum`) ?? NaN;
  const before = await scrape();
  process.kill(engine.pid, "SIGSTOP");
  const sentMs = performance.now();
  await speak();
  await sleep(stoppedMs);
  process.kill(engine.pid, "SIGCONT");
  await stream.waitFor(() => finalsOf(stream.messages).length === 2);
  const waitedSeconds = (performance.now() - sentMs) / 1000;
  const later = await scrape();
  for (const kind of ["interim", "final"]) {
    // All audio has come before the pause. Half of it is for a busy machine to read it.
    const lag = lagOf(later, kind) - lagOf(before, kind);
    assert.ok(lag > stoppedMs / 2_000, `${kind}: ${lag} s`);
  }
  // There was one final result.
  const lag = lagOf(later, "final") - lagOf(before, "final");
  assert.ok(lag <= waitedSeconds, `${lag} s, but the caller has waited for ${waitedSeconds} s`);
  stream.send({ audioContent: "" });
  assert.equal(await stream.closed, 1000);
});

test("a connection that is refused before it calls anything is counted", async () => {
  const { hostname, port } = new URL(service.address);
  const sockets = Array.from({ length: connectionsMax + 1 }, () => connect(Number(port), hostname));
  for (const socket of sockets) socket.on("error", () => {});
  const reason = "TOO_MANY_CONNECTIONS";
  const isCounted = async () =>
    (sumOf(await scrape(), "hlust_refusals_total", { reason }) ?? 0) > 0;
  await until(isCounted);
  for (const socket of sockets) socket.destroy();
});

/** Returns the reasons of errors in these folders of src that match a pattern. */
function reasonsIn(folders: readonly string[], pattern: RegExp): ReadonlySet<string> {
  const root = resolve(import.meta.dirname, "../../src");
  const files = folders.flatMap((folder) => globSync(`${folder}/**/*.ts`, { cwd: root }));
  const sources = files.filter((file) => !/\.test\.ts$|^(?:console|gen)\//.test(file));
  const found = sources.flatMap((file) =>
    Array.from(
      readFileSync(join(root, file), "utf8").matchAll(pattern),
      ([, reason = ""]) => reason,
    ),
  );
  return new Set(found);
}

test("each reason with which a recording fails, or a call finds no room, has a series", async () => {
  const { samples: failures = [] } = (await scrape()).get("hlust_job_failures_total") ?? {};
  const media = reasonsIn(["media", "audio", "describe", "jobs"], /"(MEDIA_[A-Z_]*[A-Z])"/g);
  assert.ok(media.size > 15);
  const failed = new Set(
    failures
      .filter(({ labels }) => labels["kind"] === "transcript")
      .map(({ labels }) => labels["reason"] ?? ""),
  );
  assert.deepEqual(media.difference(failed), new Set());
  const { samples: refusals = [] } = (await scrape()).get("hlust_refusals_total") ?? {};
  // Limits of what an account keeps, states of a model, and names within the service, are not about
  // load.
  const kept = "REVIEW_FULL STORAGE_FULL VOCABULARY_FULL ACCOUNT_FULL KEY_FULL".split(" ");
  const counts = ["KEYS", "MEMBERS", "MODEL_TASKS", "SHARES", "TESTS", "VALUES", "WEBHOOKS"];
  const others = new Set([...kept, "SERVER_BUSY", ...counts.map((what) => `TOO_MANY_${what}`)]);
  const busy = reasonsIn(["."], /"([A-Z_]+_(?:BUSY|FULL)|TOO_MANY_[A-Z]+)"/g).difference(others);
  assert.ok(busy.size > 12);
  const refused = new Set(refusals.map(({ labels }) => labels["reason"] ?? ""));
  assert.deepEqual(busy.difference(refused), new Set());
});

test("only src/metrics imports prom-client", () => {
  const root = resolve(import.meta.dirname, "../../src");
  const found = execFileSync("grep", ["-rlE", `from "prom-client"`, root], { encoding: "utf8" });
  const files = found.trim().split("\n");
  assert.ok(files.length > 3);
  for (const file of files) assert.ok(file.startsWith(join(root, "metrics/")), file);
});
