import { readdir, readFile } from "node:fs/promises";
import { monitorEventLoopDelay, performance } from "node:perf_hooks";
import process from "node:process";
import type { Counter, Gauge } from "prom-client";
import type { MetricRegistry } from "./metric-registry.ts";

/** The state of a node, at the time of a scrape. */
export interface NodeFacts {
  readonly isReady: boolean;
  /** Whether each part that readiness checks is ready. */
  readonly parts: Readonly<Record<string, boolean>>;
  readonly isDraining: boolean;
  /** When the certificate of the service expires; undefined without one. */
  readonly certificateExpiresAt: Date | undefined;
}

/** The interval at which the delay of the event loop is measured. */
const delayEveryMs = 20;

/** The state of the node, and the use of the machine by this process. */
export class NodeMetrics implements Disposable {
  readonly #ready: Gauge;
  readonly #parts: Gauge<"part">;
  readonly #draining: Gauge;
  readonly #certificate: Gauge;
  readonly #failures: Counter;
  readonly #process: ReturnType<typeof processFamilies>;
  readonly #labels: { readonly process: string };
  readonly #delay = monitorEventLoopDelay({ resolution: delayEveryMs });
  #utilization = performance.eventLoopUtilization();
  #cpuSeconds = 0;

  constructor(
    registry: MetricRegistry,
    {
      process: name,
      ...build
    }: { readonly version: string; readonly role: string; readonly process: string },
  ) {
    this.#labels = { process: name };
    const info: Gauge<"version" | "role"> = registry.gauge({
      name: "hlust_build_info",
      help: "Version and role of this node",
      labelNames: ["version", "role"],
    });
    info.set({ ...build }, 1);
    this.#ready = registry.gauge({
      name: "hlust_ready",
      help: "Whether the node is ready, as /readyz reports it",
    });
    this.#parts = registry.gauge({
      name: "hlust_part_ready",
      help: "Whether a part of the node is ready: database, engines, media, sandbox",
      labelNames: ["part"],
    });
    this.#draining = registry.gauge({
      name: "hlust_draining",
      help: "Whether the node is shutting down",
    });
    this.#certificate = registry.gauge({
      name: "hlust_tls_certificate_expiry_timestamp_seconds",
      help: "Time at which the certificate of the service expires; 0 without a certificate",
    });
    this.#failures = registry.counter({
      name: "hlust_scrape_failures_total",
      help: "Parts that could not be read for a scrape, for example without the database",
    });
    this.#process = processFamilies(registry);
    this.#process.start.set(this.#labels, performance.timeOrigin / 1000);
    this.#delay.enable();
  }

  /** Counts a part that could not be read for a scrape. */
  scrapeFailed(): void {
    this.#failures.inc();
  }

  refreshState({ isReady, parts, isDraining, certificateExpiresAt }: NodeFacts): void {
    this.#ready.set(isReady ? 1 : 0);
    for (const [part, isUp] of Object.entries(parts)) this.#parts.set({ part }, isUp ? 1 : 0);
    this.#draining.set(isDraining ? 1 : 0);
    this.#certificate.set((certificateExpiresAt?.getTime() ?? 0) / 1000);
  }

  /** Brings the use of the machine up to date before a scrape. */
  async refreshProcess(): Promise<void> {
    const { cpu, memory, heap, openFds, maxFds, delay, utilization } = this.#process;
    const labels = this.#labels;
    const used = process.cpuUsage();
    const cpuSeconds = (used.user + used.system) / 1e6;
    cpu.inc(labels, cpuSeconds - this.#cpuSeconds);
    this.#cpuSeconds = cpuSeconds;
    const { rss, heapUsed } = process.memoryUsage();
    memory.set(labels, rss);
    heap.set(labels, heapUsed);
    // The measured times include the interval. Without any, the mean is NaN.
    const delayMs = Number.isNaN(this.#delay.mean) ? 0 : this.#delay.percentile(99) / 1e6;
    delay.set(labels, Math.max(0, delayMs - delayEveryMs) / 1000);
    this.#delay.reset();
    const before = this.#utilization;
    this.#utilization = performance.eventLoopUtilization();
    const { utilization: busy } = performance.eventLoopUtilization(this.#utilization, before);
    utilization.set(labels, busy);
    openFds.set(labels, (await readdir("/proc/self/fd")).length);
    maxFds.set(labels, await openFilesMax());
  }

  [Symbol.dispose](): void {
    this.#delay.disable();
  }
}

async function openFilesMax(): Promise<number> {
  const limits = await readFile("/proc/self/limits", "latin1");
  return Number(/^Max open files +(\d+)/m.exec(limits)?.[1] ?? 0);
}

function processFamilies(registry: MetricRegistry) {
  const labelNames = ["process"] as const;
  // While a front process is being replaced, two processes have its name.
  const gauge = (name: string, help: string): Gauge<"process"> =>
    registry.gauge({ name, help, labelNames });
  const highest = (name: string, help: string): Gauge<"process"> =>
    registry.gauge({ name, help, labelNames, aggregator: "max" });
  return {
    cpu: registry.counter({
      name: "process_cpu_seconds_total",
      help: "CPU seconds of a process of the node: main, or a front process",
      labelNames,
    }),
    memory: gauge("process_resident_memory_bytes", "Resident memory of a process"),
    heap: gauge("nodejs_heap_size_used_bytes", "Used heap of a process"),
    openFds: gauge("process_open_fds", "Open file descriptors of a process"),
    maxFds: highest("process_max_fds", "Maximum number of open file descriptors of a process"),
    start: highest("process_start_time_seconds", "Start time of a process, as Unix time"),
    delay: highest(
      "nodejs_eventloop_delay_p99_seconds",
      "99th percentile of the delay of the event loop since the last scrape",
    ),
    utilization: highest(
      "nodejs_eventloop_utilization_ratio",
      "Share of the time since the last scrape in which the event loop was busy",
    ),
  };
}
