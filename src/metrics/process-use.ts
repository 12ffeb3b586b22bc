import { readFile } from "node:fs/promises";

/** The use of a process since the last measurement. */
export interface Use {
  readonly cpuSeconds: number;
  readonly residentBytes: number;
}

/** The units of /proc/<pid>/stat on Linux: clock ticks of 10 ms, and pages of 4 KiB. */
const ticksPerSecond = 100;
const pageBytes = 4096;

/** Measures other processes by /proc. */
export class ProcessUse {
  /** The CPU seconds of each process at the last measurement. */
  #cpuSeconds = new Map<number, number>();

  /** Returns the use of each process that still runs. */
  async measure(pids: readonly number[]): Promise<ReadonlyMap<number, Use>> {
    const before = this.#cpuSeconds;
    const stats = await Promise.all(pids.map(async (pid) => [pid, await readStat(pid)] as const));
    const uses = new Map<number, Use>();
    this.#cpuSeconds = new Map();
    for (const [pid, stat] of stats) {
      if (!stat) continue;
      const { cpuSeconds, residentBytes } = stat;
      this.#cpuSeconds.set(pid, cpuSeconds);
      // The id of a process that has ended may be given to another one.
      const since = Math.max(0, cpuSeconds - (before.get(pid) ?? 0));
      uses.set(pid, { cpuSeconds: since, residentBytes });
    }
    return uses;
  }
}

async function readStat(pid: number): Promise<Use | undefined> {
  try {
    const text = await readFile(`/proc/${pid}/stat`, "latin1");
    // The name of the program, in parentheses, may contain spaces.
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    const [user, system, pages] = [11, 12, 21].map((index) => Number(fields[index] ?? 0));
    return {
      cpuSeconds: ((user ?? 0) + (system ?? 0)) / ticksPerSecond,
      residentBytes: (pages ?? 0) * pageBytes,
    };
  } catch {
    return undefined;
  }
}
