import { type ProcessSigns, readProcessSigns } from "../protocol/process-signs.ts";

/** How often the process is checked within the time after which it counts as stuck. */
const checks = 10;
/**
 * A share of the silent time: a runnable process that got less CPU time was kept from working, and
 * is not stuck.
 */
const cpuShareMin = 0.25;
/**
 * A process whose threads together waited for a core for this share of the time was also kept from
 * working.
 */
const starvedShareMin = 0.25;
/**
 * A process that waits for its disk may be silent this many times longer, but not forever: the disk
 * may never answer.
 */
const diskWaitFactor = 10;

export interface WatchdogOptions {
  readonly pid: number;
  readonly stuckMsMax: number;
  /** Whether the process has something to do: an idle one may be silent. */
  readonly hasWork: () => boolean;
  /** Called once, when the process has work and made no progress for stuckMsMax. */
  readonly onStuck: () => void;
  /** What the kernel reports of the process; undefined if it reports nothing. */
  readonly readSigns?: (pid: number) => ProcessSigns | undefined;
}

/**
 * Detects a process that runs and makes no progress: stopped, deadlocked, or in an endless loop. A
 * slow process is not stuck: it may wait for a core of a busy machine without limit, and for its
 * disk ten times as long as it may otherwise be silent.
 */
export class Watchdog implements Disposable {
  readonly #options: WatchdogOptions;
  readonly #timer: NodeJS.Timeout;
  #signAt = performance.now();
  /**
   * Checks since the last sign. Checks are counted and not time: while this process itself is
   * suspended, none are counted.
   */
  #silentChecks = 0;
  /** The kernel's report at the second silent check, and at the latest ones. */
  #early: ProcessSigns | undefined;
  #lately: (ProcessSigns | undefined)[] = [];

  constructor(options: WatchdogOptions) {
    this.#options = options;
    this.#timer = setInterval(() => this.#check(), options.stuckMsMax / checks);
  }

  /** To be called when the process has shown that it works. */
  sign(): void {
    this.#signAt = performance.now();
    this.#silentChecks = 0;
  }

  /** Time since its last sign. */
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
    // Most processes give a sign before the second check, and the kernel's report takes two files
    // for each thread.
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
 * Whether the process could not work, as far as the kernel reports. `early`: when its silence
 * began; `before`: stuckMsMax ago. CPU time is checked first: an endless loop may read a page from
 * the disk now and then, but a process that is slow because of its disk gets no such share of a
 * core.
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
