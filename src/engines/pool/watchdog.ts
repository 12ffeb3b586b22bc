import { type ProcessSigns, readProcessSigns } from "../protocol/process-signs.ts";

/**
 * The number of checks of the process within stuckMsMax, the time after which it counts as stuck.
 */
const checks = 10;
/**
 * The share of the silent time that a runnable process must have spent on the CPU to count as
 * stuck. With less CPU time, it was kept from working.
 */
const cpuShareMin = 0.25;
/**
 * A process whose threads together waited for a core for this share of the silent time was also
 * kept from working.
 */
const starvedShareMin = 0.25;
/**
 * The factor by which a process that waits for its disk may be silent longer. There is a limit,
 * since the disk may never respond.
 */
const diskWaitFactor = 10;

export interface WatchdogOptions {
  readonly pid: number;
  readonly stuckMsMax: number;
  /** Whether the process has work. An idle process may be silent. */
  readonly hasWork: () => boolean;
  /** Called once, if the process has work and made no progress for stuckMsMax. */
  readonly onStuck: () => void;
  /** Returns the kernel's report on the process; undefined if there is none. */
  readonly readSigns?: (pid: number) => ProcessSigns | undefined;
}

/**
 * Detects a process that exists but makes no progress: one that is stopped, deadlocked, or in an
 * endless loop. A slow process is not stuck: it may wait without limit for a core of a busy
 * machine, and for its disk ten times as long as it may otherwise be silent.
 */
export class Watchdog implements Disposable {
  readonly #options: WatchdogOptions;
  readonly #timer: NodeJS.Timeout;
  #signAt = performance.now();
  /**
   * The number of checks since the last sign. Checks are counted instead of time, since none happen
   * while this process itself is suspended.
   */
  #silentChecks = 0;
  /** The kernel's reports at the second silent check and at the latest checks. */
  #early: ProcessSigns | undefined;
  #lately: (ProcessSigns | undefined)[] = [];

  constructor(options: WatchdogOptions) {
    this.#options = options;
    this.#timer = setInterval(() => this.#check(), options.stuckMsMax / checks);
  }

  /** Called when the process has shown that it works. */
  sign(): void {
    this.#signAt = performance.now();
    this.#silentChecks = 0;
  }

  /** The time since the last sign of the process. */
  get silentMs(): number {
    return performance.now() - this.#signAt;
  }

  #check(): void {
    const { pid, stuckMsMax, hasWork, onStuck, readSigns = readProcessSigns } = this.#options;
    if (!hasWork()) {
      this.#silentChecks = 0;
      return;
    }
    this.#silentChecks += 1;
    // Most processes give a sign before the second check, and the kernel's report requires reading
    // two files for each thread.
    if (this.#silentChecks === 1) return;
    const now = readSigns(pid);
    if (this.#silentChecks === 2) [this.#early, this.#lately] = [now, []];
    const before = this.#lately.length < checks ? this.#early : this.#lately.shift();
    this.#lately.push(now);
    if (this.#silentChecks <= checks) return;
    const mayWaitForDisk = this.#silentChecks <= diskWaitFactor * checks;
    if (isKeptFromWorking({ early: this.#early, before, now }, stuckMsMax, mayWaitForDisk)) return;
    clearInterval(this.#timer);
    onStuck();
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}

/**
 * Returns whether the process could not work, as far as the kernel reports. `early` is the report
 * from the start of the silence, `before` the one from stuckMsMax ago. CPU time is checked first:
 * an endless loop may read a page from the disk now and then, but a process that is slow because of
 * its disk gets no such share of a core.
 */
function isKeptFromWorking(
  { early, before, now }: Record<"early" | "before" | "now", ProcessSigns | undefined>,
  stuckMsMax: number,
  mayWaitForDisk: boolean,
): boolean {
  if (!early || !before || !now || now.first.isStopped) return false;
  const cpuMsMin = cpuShareMin * stuckMsMax;
  if (now.cpuMs - before.cpuMs >= cpuMsMin) return false;
  const [first, others] = [now.first, now.others];
  const waitsForDisk = first.waitsForDisk || others.waitsForDisk || now.pageIns > before.pageIns;
  if (waitsForDisk && mayWaitForDisk) return true;
  if (now.cpuMs - early.cpuMs >= cpuMsMin) return false;
  const starvedMs = starvedMsOf(now) - starvedMsOf(before);
  return first.canRun || others.canRun || starvedMs >= starvedShareMin * stuckMsMax;
}

function starvedMsOf({ first, others }: ProcessSigns): number {
  return first.starvedMs + others.starvedMs;
}
