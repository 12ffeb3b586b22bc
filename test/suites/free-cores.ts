import { readFileSync } from "node:fs";
import { availableParallelism, freemem } from "node:os";

/** The memory that must be available before a further test file starts: a service and a browser. */
const memoryBytesMin = 3 * 1024 ** 3;
/** How many cores must have been idle: a file that waits leaves one idle. */
const idleCoresMin = 0.5;

/** The counters of all cores together since the machine started, in ticks. */
interface Ticks {
  readonly idle: number;
  readonly total: number;
}

/**
 * Returns a function that says whether a core of the machine was idle since the previous call, so
 * that one more test file makes no other file slow. The first call returns false.
 */
export function watchFreeCores(
  read: () => Ticks = readTicks,
  availableBytes: () => number = freemem,
): () => boolean {
  let before: Ticks | undefined;
  return () => {
    const now = read();
    const since = before;
    before = now;
    if (!since || now.total === since.total) return false;
    const idleShare = (now.idle - since.idle) / (now.total - since.total);
    const idleCores = idleShare * availableParallelism();
    return idleCores >= idleCoresMin && availableBytes() >= memoryBytesMin;
  };
}

/** Reads the counters. Waiting for a disk counts as idle; time that a hypervisor took does not. */
function readTicks(): Ticks {
  const [line = ""] = readFileSync("/proc/stat", "latin1").split("\n", 1);
  // cpu user nice system idle iowait irq softirq steal; guest times are part of user.
  const ticks = line.split(/ +/).slice(1, 9).map(Number);
  const [, , , idle = 0, iowait = 0] = ticks;
  return { idle: idle + iowait, total: ticks.reduce((sum, each) => sum + each, 0) };
}
