import { readdirSync, readFileSync } from "node:fs";

/**
 * The kernel's report on a process: enough to determine whether it works or is kept from working.
 */
export interface ProcessSigns {
  readonly cpuMs: number;
  /**
   * The number of pages read from the disk since the process started: of a model, or of swapped
   * memory.
   */
  readonly pageIns: number;
  /** The main thread, which runs the event loop. */
  readonly first: ThreadSigns;
  /** All other threads, together. */
  readonly others: ThreadSigns;
}

export interface ThreadSigns {
  readonly isStopped: boolean;
  /** Whether the thread runs on a core or waits for one. */
  readonly canRun: boolean;
  readonly waitsForDisk: boolean;
  /**
   * The time that the thread waited for a core, up to its last turn; 0 if the kernel does not count
   * it.
   */
  readonly starvedMs: number;
}

const noSigns: ThreadSigns = { isStopped: false, canRun: false, waitsForDisk: false, starvedMs: 0 };

/**
 * Reads the signs of a process; returns undefined if the kernel has no /proc or the process has
 * ended.
 */
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
 * Reads the signs of this process, with a finer resolution of CPU time than the ticks of the
 * kernel. Without /proc, reads only CPU time.
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

/** Reads the signs of a thread; returns undefined if the thread has ended since it was listed. */
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

/**
 * Returns the fields of proc_pid_stat(5) from the state on. They are found after the name, which
 * may contain any character.
 */
function statOf(folder: string): string[] {
  const text = readFileSync(`${folder}/stat`, "latin1");
  return text.slice(text.lastIndexOf(")") + 2).split(" ");
}

/**
 * Reads the waiting time from schedstat, which contains nanoseconds on a core, nanoseconds of
 * waiting for a core, and turns.
 */
function starvedMsOf(folder: string): number {
  try {
    return Number(readFileSync(`${folder}/schedstat`, "latin1").split(" ")[1]) / 1e6;
  } catch {
    return 0;
  }
}
