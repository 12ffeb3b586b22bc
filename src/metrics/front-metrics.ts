import type { Counter, Gauge } from "prom-client";
import type { MetricRegistry } from "./metric-registry.ts";

/** A front process at the time of a scrape. */
export interface FrontFacts {
  /** Its name, such as front1. */
  readonly name: string;
  readonly connections: number;
  /** Its families as data. */
  readonly families: readonly object[];
}

/** The front processes of a node, as its main process sees them. */
export class FrontMetrics {
  readonly #connections: Gauge<"process">;
  readonly #losses: Counter;
  #lossCount = 0;

  constructor(registry: MetricRegistry) {
    this.#connections = registry.gauge({
      name: "hlust_front_connections",
      help: "Open connections of a front process",
      labelNames: ["process"],
    });
    this.#losses = registry.counter({
      name: "hlust_front_losses_total",
      help: "Front processes that ended although they were needed, and were started again",
    });
  }

  /** Brings the families up to date before a scrape. */
  refresh(fronts: readonly FrontFacts[], losses: number): void {
    this.#connections.reset();
    // While a front process is being replaced, two processes have its name.
    for (const { name, connections } of fronts) {
      this.#connections.inc({ process: name }, connections);
    }
    this.#losses.inc(losses - this.#lossCount);
    this.#lossCount = losses;
  }
}
