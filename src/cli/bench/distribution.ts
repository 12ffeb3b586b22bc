/** Statistics of times in milliseconds, or of other values. */
export interface Summary {
  readonly count: number;
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
  readonly max: number;
}

/** Collects measurements; percentiles are measured values, not interpolated. */
export class Distribution {
  readonly #values: number[] = [];

  add(value: number): void {
    this.#values.push(value);
  }

  /** Returns the statistics, or undefined if nothing was added. */
  summary(): Summary | undefined {
    const sorted = Float64Array.from(this.#values).toSorted();
    const at = (share: number): number =>
      sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? NaN;
    if (sorted.length === 0) return undefined;
    return { count: sorted.length, p50: at(0.5), p95: at(0.95), p99: at(0.99), max: at(1) };
  }
}
