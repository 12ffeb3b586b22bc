import { readFileSync } from "node:fs";

/** Looks at the process so often within the time after which it counts as stuck. */
const looks = 10;
/** Of the time without a sign: a process that got less of a core was kept from working and is not stuck. */
const cpuShareMin = 0.25;

export interface WatchdogOptions {
  readonly pid: number;
  readonly stuckMsMax: number;
  /** Whether the process has something to do: one that rests need not be heard of. */
  readonly hasWork: () => boolean;
  /** Called once, when the process has work and made no progress for stuckMsMax. */
  readonly onStuck: () => void;
}

/**
 * Finds a process that is there and does nothing: stopped, or in a loop that does not end. Slowness does not count: a process
 * that a busy machine does not let run is left in peace.
 */
export class Watchdog implements Disposable {
  readonly #options: WatchdogOptions;
  readonly #timer: NodeJS.Timeout;
  #signAt = performance.now();
  /** Looks since the last sign. Not a time: when this very process stood still, no time has passed for the other. */
  #silentLooks = 0;
  #silentCpuMs: number | undefined;

  constructor(options: WatchdogOptions) {
    this.#options = options;
    this.#timer = setInterval(() => this.#look(), options.stuckMsMax / looks);
  }

  /** The process has done something. */
  sign(): void {
    this.#signAt = performance.now();
    this.#silentLooks = 0;
  }

  /** Time since it last did something. */
  get silentMs(): number {
    return performance.now() - this.#signAt;
  }

  #look(): void {
    const { pid, stuckMsMax, hasWork, onStuck } = this.#options;
    if (!hasWork()) {
      this.#silentLooks = 0;
      return;
    }
    this.#silentLooks += 1;
    if (this.#silentLooks === 1) this.#silentCpuMs = readProcess(pid)?.cpuMs;
    if (this.#silentLooks <= looks) return;
    if (isKeptFromWorking(readProcess(pid), this.#silentCpuMs, stuckMsMax)) return;
    clearInterval(this.#timer);
    onStuck();
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}

interface ProcessFacts {
  /** R: it could run. D: it waits for the disk. */
  readonly state: string;
  readonly cpuMs: number;
}

function isKeptFromWorking(
  facts: ProcessFacts | undefined,
  fromCpuMs: number | undefined,
  stuckMsMax: number,
): boolean {
  if (!facts || fromCpuMs === undefined) return false;
  if (facts.state === "D") return true;
  return facts.state === "R" && facts.cpuMs - fromCpuMs < cpuShareMin * stuckMsMax;
}

/** undefined where the kernel has no /proc. */
function readProcess(pid: number): ProcessFacts | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    // The name before them may hold anything.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const ticks = Number(fields[11]) + Number(fields[12]);
    return { state: fields[0] ?? "", cpuMs: ticks * 10 };
  } catch {
    return undefined;
  }
}
