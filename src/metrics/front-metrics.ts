import type { Counter, Gauge } from "prom-client";
import { valueIn } from "./add-families.ts";
import type { MetricRegistry } from "./metric-registry.ts";

/** A front process at the time of a scrape. */
export interface FrontFacts {
  readonly number: number;
  readonly pid: number;
  readonly connections: number;
  /** Its families as data. */
  readonly families: readonly object[];
}

/** The front processes of a node, by their numbers. */
export class FrontMetrics {
  readonly #connections: Gauge<"front">;
  readonly #cpu: Counter<"front">;
  readonly #memory: Gauge<"front">;
  readonly #utilization: Gauge<"front">;
  readonly #losses: Counter;
  /** The CPU seconds of each process at the last scrape. */
  #cpuSeconds: ReadonlyMap<number, number> = new Map();
  #lossCount = 0;

  constructor(registry: MetricRegistry) {
    const labelNames = ["front"] as const;
    this.#connections = registry.gauge({
      name: "hlust_front_connections",
      help: "Open connections of a front process",
      labelNames,
    });
    this.#cpu = registry.counter({
      name: "hlust_front_cpu_seconds_total",
      help: "CPU seconds of a front process",
      labelNames,
    });
    this.#memory = registry.gauge({
      name: "hlust_front_resident_memory_bytes",
      help: "Resident memory of a front process",
      labelNames,
    });
    this.#utilization = registry.gauge({
      name: "hlust_front_eventloop_utilization_ratio",
      help: "Share of the time since the last scrape in which the front process was busy",
      labelNames,
    });
    this.#losses = registry.counter({
      name: "hlust_front_losses_total",
      help: "Front processes that ended although they were needed, and were started again",
    });
  }

  /** Brings the families up to date before a scrape. */
  refresh(fronts: readonly FrontFacts[], losses: number): void {
    for (const gauge of [this.#connections, this.#memory, this.#utilization]) gauge.reset();
    const cpuSeconds = new Map<number, number>();
    // While a front process is being replaced, two processes have its number.
    for (const { number, pid, connections, families } of fronts) {
      const front = `${number}`;
      this.#connections.inc({ front }, connections);
      this.#memory.inc({ front }, valueIn(families, "process_resident_memory_bytes"));
      this.#utilization.inc({ front }, valueIn(families, "nodejs_eventloop_utilization_ratio"));
      const cpu = valueIn(families, "process_cpu_seconds_total");
      this.#cpu.inc({ front }, Math.max(0, cpu - (this.#cpuSeconds.get(pid) ?? 0)));
      cpuSeconds.set(pid, cpu);
    }
    this.#cpuSeconds = cpuSeconds;
    this.#losses.inc(losses - this.#lossCount);
    this.#lossCount = losses;
  }
}
