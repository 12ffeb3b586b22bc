import { readFileSync } from "node:fs";
import { postgresOf, treeOf } from "../fault/process.ts";

/** The CPU time in clock ticks (1/100 s). */
interface Ticks {
  /** The ticks of all processes on the machine, and of the hypervisor's other guests. */
  readonly all: number;
  /**
   * The ticks of this process, of the processes that it has started, and of the PostgreSQL of the
   * data folder.
   */
  readonly own: number;
  readonly atMs: number;
}

/**
 * Starts to measure the CPU use of other processes on this machine. The returned function returns
 * their CPU use since then, in cores.
 */
export function watchOtherLoad(dataFolder: string): () => number {
  const before = ticksNow(dataFolder);
  return () => {
    const now = ticksNow(dataFolder);
    const others = now.all - before.all - Math.max(0, now.own - before.own);
    return Math.max(0, (others * 10) / (now.atMs - before.atMs));
  };
}

function ticksNow(dataFolder: string): Ticks {
  const [line = ""] = readFileSync("/proc/stat", "utf8").split("\n", 1);
  const [user = 0, nice = 0, system = 0, , , irq = 0, softIrq = 0, steal = 0] = line
    .trim()
    .split(/\s+/)
    .slice(1)
    .map(Number);
  const pids = new Set([...treeOf(process.pid), ...postgresOf(dataFolder)].map(({ pid }) => pid));
  const own = [...pids].reduce((sum, pid) => sum + ticksOf(pid), 0);
  const all = user + nice + system + irq + softIrq + steal;
  return { all, own, atMs: performance.now() };
}

/** Returns the ticks of a process, or 0 if it has ended. */
function ticksOf(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return [11, 12].reduce((sum, at) => sum + Number(fields[at]), 0);
  } catch {
    return 0;
  }
}
