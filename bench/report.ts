import { availableParallelism, cpus, loadavg } from "node:os";
import process from "node:process";

/**
 * A measured figure and the limit that it must not exceed. Most figures are ratios measured in one
 * run.
 */
export interface Figure {
  readonly name: string;
  readonly ratio: number;
  readonly ratioMax: number;
  /** The unit, if the figure is not a ratio. */
  readonly unit?: string;
  readonly note: string;
}

/**
 * Prints the figures with their limits. The process exits with 1 if a figure misses its limit. A
 * figure that could not be measured is NaN, and misses its limit too.
 */
export function report(figures: readonly Figure[]): void {
  const width = Math.max(31, ...figures.map(({ name }) => name.length));
  for (const { name, ratio, ratioMax, unit, note } of figures) {
    const isWithin = ratio <= ratioMax;
    if (!isWithin) process.exitCode = 1;
    const value = `${ratio.toFixed(2)}${unit === undefined ? "" : ` ${unit}`}`;
    console.log(
      `${isWithin ? " " : "!"} ${name.padEnd(width)} ${value} (limit ${ratioMax})  ${note}`,
    );
  }
}

export function reportMachine(): void {
  const load = loadavg()[0]?.toFixed(0);
  console.log(
    `machine  ${cpus()[0]?.model}, ${availableParallelism()} cores, load ${load}, Node ${process.versions.node}`,
  );
}
