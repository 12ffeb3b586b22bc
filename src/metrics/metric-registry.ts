import { Counter, Gauge, Histogram, Registry, type OpenMetricsContentType } from "prom-client";
import { addUp } from "./add-families.ts";
import { contentTypes, type MetricsFormat } from "./metrics-format.ts";

/** One family of metrics. */
export interface Family<Label extends string> {
  readonly name: string;
  readonly help: string;
  readonly labelNames?: readonly Label[];
}

/** The families of a node, and their text. */
export class MetricRegistry {
  readonly #prometheus = new Registry();
  readonly #openmetrics = new Registry<OpenMetricsContentType>();

  constructor() {
    this.#openmetrics.setContentType(contentTypes.openmetrics);
  }

  /** Creates a counter. Its name ends in _total. */
  counter<Label extends string>(family: Family<Label>): Counter<Label> {
    const counter = new Counter<Label>({ ...family, registers: [this.#prometheus] });
    // In OpenMetrics, the name of the family has no _total. The library would remove it from the
    // counter itself, and so from all later texts in the format of Prometheus.
    const view: Counter<Label> = Object.create(counter, {
      name: { value: family.name.replace(/_total$/, ""), writable: true },
    });
    this.#openmetrics.registerMetric(view);
    return counter;
  }

  /** Creates a gauge, with value 0 if it has no labels. */
  gauge<Label extends string>(family: Family<Label>): Gauge<Label> {
    return new Gauge<Label>({ ...family, registers: this.#both() });
  }

  histogram<Label extends string>(
    family: Family<Label> & { readonly buckets: readonly number[] },
  ): Histogram<Label> {
    const buckets = [...family.buckets];
    return new Histogram<Label>({ ...family, buckets, registers: this.#both() });
  }

  /** Returns all families as data, for another process of the node. */
  async families(): Promise<readonly object[]> {
    return await this.#prometheus.getMetricsAsJSON();
  }

  /** Returns all families as text, with those of other processes added to them. */
  async text(format: MetricsFormat, others: readonly (readonly object[])[] = []): Promise<string> {
    const own = format === "openmetrics" ? this.#openmetrics : this.#prometheus;
    if (others.length === 0) return await own.metrics();
    return await addUp([await this.families(), ...others], format).metrics();
  }

  #both() {
    return [this.#prometheus, this.#openmetrics];
  }
}
