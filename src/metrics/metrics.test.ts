import assert from "node:assert/strict";
import { tmpdir } from "node:os";
import { test } from "node:test";
import { parseMetrics, sumOf } from "../../test/fixtures/parse-metrics.ts";
import { Metrics, type MetricsSources } from "./metrics.ts";
import type { QueueFacts } from "./queue-metrics.ts";

const counts = { waiting: 3, running: 1, waiting_for_content: 0 };
const queues: QueueFacts = {
  jobs: counts,
  alignment: counts,
  oldestWaitingSeconds: 12,
  pendingDeliveries: 2,
  oldestDeliverySeconds: 5,
};

/** Metrics that read these parts, and the working others. */
/** What the node reports of its certificate. */
let certificateExpiresAt: Date | undefined;

function openMetrics(sources: Partial<MetricsSources> = {}, name = "main") {
  const metrics = new Metrics({ version: "1.2.3", role: "api", process: name, methods: [] });
  metrics.readFrom({
    engines: () => ({ load: 0.5, liveLateSeconds: 0, refused: 0, models: [], nodes: [] }),
    pool: () => ({ used: 2, idle: 3, waiting: 0, max: 20 }),
    queues: () => Promise.resolve(queues),
    node: () =>
      Promise.resolve({ isReady: true, parts: {}, isDraining: false, certificateExpiresAt }),
    dataFolder: tmpdir(),
    ...sources,
  });
  const read = async () => parseMetrics(await metrics.scrape("prometheus"), "prometheus");
  return { metrics, read, [Symbol.dispose]: () => metrics[Symbol.dispose]() };
}

test("a scrape shows when the certificate expires, also after it was replaced", async () => {
  using opened = openMetrics();
  const name = "hlust_tls_certificate_expiry_timestamp_seconds";
  assert.equal(sumOf(await opened.read(), name), 0);
  certificateExpiresAt = new Date(1_800_000_000_000);
  assert.equal(sumOf(await opened.read(), name), 1_800_000_000);
});

test("a scrape without the database has all other values, and counts the failure", async () => {
  using opened = openMetrics({ queues: () => Promise.reject(new Error("no database")) });
  const metrics = await opened.read();
  assert.equal(sumOf(metrics, "hlust_scrape_failures_total"), 1);
  assert.equal(sumOf(metrics, "hlust_jobs", { kind: "transcript", state: "waiting" }), 0);
  assert.equal(sumOf(metrics, "hlust_live_load_ratio"), 0.5);
  assert.equal(sumOf(metrics, "db_client_connections", { state: "used" }), 2);
});

test("engines that cannot be read fail one part of a scrape, not the scrape", async () => {
  using opened = openMetrics({
    engines() {
      throw new Error("closed");
    },
  });
  const metrics = await opened.read();
  assert.equal(sumOf(metrics, "hlust_scrape_failures_total"), 1);
  assert.equal(sumOf(metrics, "hlust_webhook_pending"), 2);
});

test("concurrent scrapes read the parts once, and the queues are read again after 15 s only", async () => {
  let reads = 0;
  using opened = openMetrics({
    queues() {
      reads += 1;
      return Promise.resolve(queues);
    },
  });
  await Promise.all([opened.read(), opened.read(), opened.read()]);
  await opened.read();
  assert.equal(reads, 1);
});

test("the first 20 models have a label of their own, and all others are counted together", async () => {
  using opened = openMetrics();
  for (let number = 1; number <= 30; number += 1) {
    opened.metrics.engines.exited(`model-${number}`, "crashed");
  }
  const metrics = await opened.read();
  const reason = "crashed";
  assert.equal(sumOf(metrics, "hlust_engine_exits_total", { model: "model-20", reason }), 1);
  assert.equal(
    sumOf(metrics, "hlust_engine_exits_total", { model: "model-21", reason }),
    undefined,
  );
  assert.equal(sumOf(metrics, "hlust_engine_exits_total", { model: "other", reason }), 10);
});

test("a model that was removed has no processes any more", async () => {
  const model = { name: "m", version: "1", processes: 2, ready: 1, sessions: 4, streamsMax: 8 };
  const state = { models: [{ ...model, pids: [process.pid] }] };
  using opened = openMetrics({
    engines: () => ({ load: 0, liveLateSeconds: 0, refused: 0, models: state.models, nodes: [] }),
  });
  const metrics = await opened.read();
  assert.equal(sumOf(metrics, "hlust_engine_processes", { model: "m", state: "missing" }), 1);
  assert.ok((sumOf(metrics, "hlust_engine_resident_memory_bytes") ?? 0) > 1_000_000);
  state.models = [];
  assert.equal(sumOf(await opened.read(), "hlust_engine_processes"), undefined);
});

test("a scrape has the use of each process of the node, also while one is being replaced", async () => {
  // Both processes have the name, as while the first one is being replaced.
  using first = openMetrics({}, "front1");
  using second = openMetrics({}, "front1");
  const families = structuredClone(
    await Promise.all([first.metrics.families(), second.metrics.families()]),
  );
  using main = openMetrics({
    fronts: () =>
      Promise.resolve({
        fronts: families.map((each) => ({ name: "front1", connections: 2, families: each })),
        losses: 1,
      }),
  });
  first.metrics.calls.begin("rest").end();
  main.metrics.keep(structuredClone(await first.metrics.families()));
  const metrics = await main.read();
  const front = { process: "front1" };
  const valueOf = (name: string, labels = front) => sumOf(metrics, name, labels) ?? NaN;
  const started = "process_start_time_seconds";
  assert.equal(valueOf(started), valueOf(started, { process: "main" }));
  assert.ok(valueOf("nodejs_eventloop_utilization_ratio") <= 1);
  // The sum of both, and what the one that has ended had used.
  const cpu = "process_cpu_seconds_total";
  assert.ok(valueOf(cpu) > 1.5 * valueOf(cpu, { process: "main" }), `${valueOf(cpu)}`);
  assert.equal(valueOf("hlust_front_connections"), 4);
  assert.equal(sumOf(metrics, "hlust_front_losses_total"), 1);
  assert.equal(sumOf(metrics, "hlust_calls_total", { protocol: "rest", code: "OK" }), 1);
  // A node has the values of its main process of what is the same for all of them.
  assert.equal(sumOf(metrics, "hlust_build_info"), 1);
  assert.equal(sumOf(metrics, "hlust_webhook_pending"), 2);
});
