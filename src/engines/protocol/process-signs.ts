import { readdirSync, readFileSync } from "node:fs";

/**
 * What the kernel says of a process, from which it can be seen whether it does something or is kept
 * from it.
 */
export interface ProcessSigns {
  readonly cpuMs: number;
  /** Pages that it had to wait for since its start: of a model, or of swapped memory. */
  readonly pageIns: number;
  /** The thread that it began with, which has the event loop. */
  readonly first: ThreadSigns;
  /** All others, together. */
  readonly others: ThreadSigns;
}

export interface ThreadSigns {
  readonly isStopped: boolean;
  /** It has a core, or waits for one. */
  readonly canRun: boolean;
  readonly waitsForDisk: boolean;
  /**
   * Time that it waited for a core, as of when it last got one; 0 where the kernel does not count
   * it.
   */
  readonly starvedMs: number;
}

const noSigns: ThreadSigns = { isStopped: false, canRun: false, waitsForDisk: false, starvedMs: 0 };

/** undefined where the kernel has no /proc, or the process has gone. */
export function readProcessSigns(pid: number): ProcessSigns | undefined {
  try {
    const fields = statOf(`/proc/${pid}`);
    let [first, others] = [noSigns, noSigns];
    for (const thread of readdirSync(`/proc/${pid}/task`)) {
      const signs = readThread(`/proc/${pid}/task/${thread}`);
      if (!signs) continue;
      if (thread === String(pid)) first = signs;
      else others = together(others, signs);
    }
    const cpuMs = (Number(fields[11]) + Number(fields[12])) * 10;
    return { cpuMs, pageIns: Number(fields[9]), first, others };
  } catch {
    return undefined;
  }
}

/**
 * Of this process, with CPU time finer than the kernel's ticks; of a kernel without /proc the CPU
 * time alone.
 */
export function readOwnSigns(): ProcessSigns {
  const { user, system } = process.cpuUsage();
  const unknown = { pageIns: 0, first: noSigns, others: noSigns };
  return { ...unknown, ...readProcessSigns(process.pid), cpuMs: (user + system) / 1000 };
}

function together(a: ThreadSigns, b: ThreadSigns): ThreadSigns {
  return {
    isStopped: a.isStopped || b.isStopped,
    canRun: a.canRun || b.canRun,
    waitsForDisk: a.waitsForDisk || b.waitsForDisk,
    starvedMs: a.starvedMs + b.starvedMs,
  };
}

/** undefined where it has ended since it was listed. */
function readThread(folder: string): ThreadSigns | undefined {
  try {
    const [state] = statOf(folder);
    const starvedMs = starvedMsOf(folder);
    return {
      isStopped: state === "T",
      canRun: state === "R",
      waitsForDisk: state === "D",
      starvedMs,
    };
  } catch {
    return undefined;
  }
}

/** The fields of proc_pid_stat(5) from the state on: the name before them may hold anything. */
function statOf(folder: string): string[] {
  const text = readFileSync(`${folder}/stat`, "latin1");
  return text.slice(text.lastIndexOf(")") + 2).split(" ");
}

/** Nanoseconds of the CPU, of waiting for it, and turns. */
function starvedMsOf(folder: string): number {
  try {
    return Number(readFileSync(`${folder}/schedstat`, "latin1").split(" ")[1]) / 1e6;
  } catch {
    return 0;
  }
}
