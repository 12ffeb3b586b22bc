// Measures the time from `bin/hlust serve` to the first response, at the first start (with an empty
// data folder) and at later starts. Also measures the memory of the idle process tree.
//
// Usage: npm run bench:start [runs]
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { availableParallelism, cpus, tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { postgresOf, startService, treeOf } from "../test/fault/process.ts";

const firstMsMax = 6_000;
const laterMsMax = 2_000;
const runs = Number(process.argv[2] ?? 3);

const first: number[] = [];
const later: number[] = [];
const memory: number[] = [];
for (let run = 0; run < runs; run += 1) {
  const data = mkdtempSync(join(tmpdir(), "hlust-bench-"));
  try {
    const environment = { HLUST_ENGINE_PROCESSES: `${availableParallelism()}`, HLUST_LOG: "error" };
    const fresh = await startService(data, environment);
    first.push(fresh.answersMs);
    await fresh.stop();
    const again = await startService(data, environment);
    later.push(again.answersMs);
    const processes = [...treeOf(again.pid), ...postgresOf(data)];
    const pids = new Set(processes.map(({ pid }) => pid));
    memory.push([...pids].reduce((sum, pid) => sum + pssKilobytes(pid), 0) / 1024);
    if (run === runs - 1) report(processes);
    await again.stop();
  } finally {
    rmSync(data, { recursive: true, force: true });
  }
}

const median = (values: number[]) => values.toSorted((a, b) => a - b)[values.length >> 1] ?? NaN;
console.log(
  `\nmachine  ${cpus()[0]?.model}, ${availableParallelism()} cores, Node ${process.versions.node}`,
);
console.log(
  `first    ${median(first).toFixed(0)} ms until it answers, median of ${runs} (limit ${firstMsMax})`,
);
console.log(
  `later    ${median(later).toFixed(0)} ms until it answers, median of ${runs} (limit ${laterMsMax})`,
);
console.log(
  `idle     ${median(memory).toFixed(0)} MiB (PSS of the whole tree, PostgreSQL included)`,
);
if (!(median(first) <= firstMsMax && median(later) <= laterMsMax)) process.exitCode = 1;

/**
 * Returns the PSS of a process: its own memory, and its share of the pages that it shares with
 * other processes.
 */
function pssKilobytes(pid: number): number {
  const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, "utf8");
  return Number(/^Pss:\s+(\d+) kB$/m.exec(rollup)?.[1] ?? 0);
}

function report(processes: ReturnType<typeof treeOf>): void {
  for (const { pid, command } of processes) {
    console.log(
      `${(pssKilobytes(pid) / 1024).toFixed(1).padStart(8)} MiB  ${command.slice(0, 90)}`,
    );
  }
}
