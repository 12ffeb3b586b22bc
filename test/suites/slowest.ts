import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import process from "node:process";
import type { FileCost } from "../fixtures/file-cost.ts";

const shownMax = 25;

/**
 * Prints the files that took longest, by their wall time, which other files that run at the same
 * time make longer. With a folder of costs (recordFileCost()), prints those with the most CPU time
 * as well, and the sum of all.
 */
export function printSlowest(
  durations: ReadonlyMap<string, number>,
  root: string,
  costs: string | undefined,
): void {
  const slowest = [...durations].toSorted(([, a], [, b]) => b - a).slice(0, shownMax);
  print(`The ${slowest.length} slowest of ${durations.size} files, in seconds:`);
  for (const [file, ms] of slowest) print(`  ${seconds(ms)}  ${relative(root, file)}`);
  if (costs === undefined) return;
  const measured = readCosts(costs).toSorted((a, b) => cpuMs(b) - cpuMs(a));
  const total = measured.reduce((sum, cost) => sum + cpuMs(cost), 0);
  print(`CPU time of ${measured.length} files: ${seconds(total)} s. User, system and wall time:`);
  for (const { userMs, systemMs, wallMs, file } of measured) {
    print(`  ${seconds(userMs)} ${seconds(systemMs)} ${seconds(wallMs)}  ${file}`);
  }
}

function readCosts(folder: string): FileCost[] {
  return readdirSync(folder).map((name) => {
    const cost: FileCost = JSON.parse(readFileSync(join(folder, name), "utf8"));
    return cost;
  });
}

function cpuMs({ userMs, systemMs }: FileCost): number {
  return userMs + systemMs;
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(1).padStart(6);
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
