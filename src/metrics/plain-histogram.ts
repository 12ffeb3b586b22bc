/** A series of a histogram. An observation only adds to plain numbers. */
export class HistogramSeries {
  /** The observations of each bucket alone; the last has those above all bounds. */
  readonly counts: number[];
  sum = 0;
  readonly #bounds: readonly number[];

  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.counts = Array.from({ length: bounds.length + 1 }, () => 0);
  }

  observe(value: number): void {
    const bounds = this.#bounds;
    let bucket = 0;
    while (bucket < bounds.length && value > (bounds[bucket] ?? Infinity)) bucket += 1;
    this.counts[bucket] = (this.counts[bucket] ?? 0) + 1;
    this.sum += value;
  }
}

/** A line of a scrape. */
interface Line {
  readonly metricName: string;
  readonly labels: Readonly<Record<string, number | string>>;
  readonly value: number;
}

/**
 * The series of a histogram by their labels. prom-client finds a series for each observation by
 * joining its labels, which costs several times what an observation does: keep the series that are
 * observed for each call.
 */
export class PlainHistogram<Label extends string> {
  readonly #bounds: readonly number[];
  readonly #labelNames: readonly Label[];
  readonly #series = new Map<
    string,
    { readonly labels: Readonly<Record<Label, string>>; readonly series: HistogramSeries }
  >();

  constructor(bounds: readonly number[], labelNames: readonly Label[]) {
    this.#bounds = bounds;
    this.#labelNames = labelNames;
  }

  /** Returns the series with these labels, which begins at zero. */
  series(labels: Readonly<Record<Label, string>>): HistogramSeries {
    const key = this.#labelNames.map((name) => labels[name]).join("\n");
    const known = this.#series.get(key);
    if (known) return known.series;
    const series = new HistogramSeries(this.#bounds);
    this.#series.set(key, { labels, series });
    return series;
  }

  /** Returns the lines of a scrape. */
  lines(name: string): readonly Line[] {
    return [...this.#series.values()].flatMap(({ labels, series: { counts, sum } }) => {
      let count = 0;
      const buckets = counts.map((own, at) => {
        count += own;
        const le = this.#bounds[at] ?? "+Inf";
        return { metricName: `${name}_bucket`, labels: { le, ...labels }, value: count };
      });
      return [
        ...buckets,
        { metricName: `${name}_sum`, labels, value: sum },
        { metricName: `${name}_count`, labels, value: count },
      ];
    });
  }
}
