import { Counter, Gauge, Histogram, Registry, type OpenMetricsContentType } from "prom-client";
import { addUp } from "./add-families.ts";
import { PlainHistogram } from "./plain-histogram.ts";
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

  /**
   * Creates a counter. Its name ends in _total. `collect` is called before each text, to add what
   * has been counted elsewhere.
   */
  counter<Label extends string>(
    family: Family<Label> & { readonly collect?: () => void },
  ): Counter<Label> {
    const counter = new Counter<Label>({ ...family, registers: [this.#prometheus] });
    // In OpenMetrics, the name of the family has no _total. The library would remove it from the
    // counter itself, and so from all later texts in the format of Prometheus.
    const view: Counter<Label> = Object.create(counter, {
      name: { value: family.name.replace(/_total$/, ""), writable: true },
    });
    this.#openmetrics.registerMetric(view);
    return counter;
  }

  /** Creates a gauge, with value 0 if it has no labels. `collect` is called before each text. */
  gauge<Label extends string>(
    family: Family<Label> & {
      readonly collect?: () => void;
      /** How the values of several processes become one. Default: sum. */
      readonly aggregator?: "sum" | "max";
    },
  ): Gauge<Label> {
    return new Gauge<Label>({ ...family, registers: this.#both() });
  }

  histogram<Label extends string>(
    family: Family<Label> & { readonly buckets: readonly number[] },
  ): PlainHistogram<Label> {
    const { name, help, labelNames = [] } = family;
    const plain = new PlainHistogram<Label>(family.buckets, labelNames);
    // The library writes the lines, and keeps none of the observations.
    const empty = new Histogram<Label>({ ...family, buckets: [...family.buckets], registers: [] });
    const read = () =>
      Promise.resolve({
        name,
        help,
        type: "histogram",
        values: plain.lines(name),
        aggregator: "sum",
      });
    const view: Histogram<Label> = Object.create(empty, {
      get: { value: read },
      getForPromString: { value: read },
    });
    for (const registry of this.#both()) registry.registerMetric(view);
    return plain;
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
