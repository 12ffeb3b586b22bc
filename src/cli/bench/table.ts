import type { Summary } from "./distribution.ts";
import type { ServerUse } from "./server-watch.ts";
import type { ToolUse } from "./tool-watch.ts";

/** A line of a report: its label and text. */
export type Line = readonly [about: string, text: string];

export function table(lines: readonly Line[]): string {
  return lines.map(([about, text]) => `${about.padEnd(14)}${text}\n`).join("");
}

/** Returns a table of percentiles, in milliseconds. */
export function distributionLines(rows: readonly [string, Summary | undefined][]): Line[] {
  const head = ["count", "p50", "p95", "p99", "max"].map((name) => name.padStart(9)).join("");
  return [
    ["ms", head],
    ...rows.map(([name, summary]): Line => {
      if (!summary) return [name, "        0   nothing to measure"];
      const { count, p50, p95, p99, max } = summary;
      const figures = [p50, p95, p99, max].map((ms) => ms.toFixed(1).padStart(9));
      return [name, `${String(count).padStart(9)}${figures.join("")}`];
    }),
  ];
}

/**
 * Returns the CPU and memory of the server. Its CPU time is divided by the number of units, such as
 * chunks.
 */
export function serverLines(
  use: ServerUse | undefined,
  unit: { readonly name: string; readonly count: number },
): Line[] {
  if (!use)
    return [["server", "CPU and memory unknown: give --pid if the server runs on this machine"]];
  const { cpuMs, wallMs, memoryBytes } = use;
  const each = cpuMs / Math.max(1, unit.count);
  const perUnit = each < 1 ? `${(1000 * each).toFixed(0)} us` : `${each.toFixed(1)} ms`;
  const memory = `${megabytes(memoryBytes.end)}, at most ${megabytes(memoryBytes.max)}`;
  const total = `${(cpuMs / wallMs).toFixed(2)} cores, ${perUnit} per ${unit.name}; memory ${memory} (PSS)`;
  const parts = use.parts.map(({ name, processes, cpuMs, memoryBytes }): Line => {
    const cores = `${(cpuMs / wallMs).toFixed(2)} cores`;
    return ["", `${processes} x ${name}: ${cores}, ${megabytes(memoryBytes)}`];
  });
  return [["server", total], ...parts];
}

/** Returns the use of the tool itself, and whether its figures can be trusted. */
export function toolLines(use: ToolUse): Line[] {
  const { cpuMs, wallMs, eventLoopDelayMs, sendsLateMs, lateSends, bottleneck } = use;
  const delay = `event loop late by ${eventLoopDelayMs.p99.toFixed(1)} ms at p99, ${eventLoopDelayMs.max.toFixed(1)} at most`;
  const sends = sendsLateMs
    ? `; sends late by ${sendsLateMs.p99.toFixed(1)} ms at p99, ${lateSends} of ${sendsLateMs.count} by more than 20 ms`
    : "";
  const lines: Line[] = [["this tool", `${(cpuMs / wallMs).toFixed(2)} cores; ${delay}${sends}`]];
  if (bottleneck !== undefined) {
    lines.push(["", `THE TOOL WAS THE BOTTLENECK: ${bottleneck}`]);
  }
  return lines;
}

function megabytes(bytes: number): string {
  return `${(bytes / (1 << 20)).toFixed(0)} MiB`;
}
