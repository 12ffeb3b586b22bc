import { type ProcessSigns, readProcessSigns } from "../protocol/process-signs.ts";

/** Looks at the process so often within the time after which it counts as stuck. */
const looks = 10;
/**
 * Of the time without a sign: a process that could run and got less of a core was kept from working
 * and is not stuck.
 */
const cpuShareMin = 0.25;
/** So was one that waited for a core for this share, in any of its threads. */
const starvedShareMin = 0.25;
/**
 * A process that waits for its disk may be silent this many times longer than others: the disk may
 * never answer.
 */
const diskWaitFactor = 10;

export interface WatchdogOptions {
  readonly pid: number;
  readonly stuckMsMax: number;
  /** Whether the process has something to do: one that rests need not be heard of. */
  readonly hasWork: () => boolean;
  /** Called once, when the process has work and made no progress for stuckMsMax. */
  readonly onStuck: () => void;
  /** How the process is, as the kernel says; undefined where it does not. */
  readonly readSigns?: (pid: number) => ProcessSigns | undefined;
}

/**
 * Finds a process that is there and does nothing: stopped, deadlocked, or in a loop that does not
 * end. A slow one is not stuck: it may wait for a core of a busy machine as long as it takes, and
 * for its disk ten times as long as it may otherwise be silent.
 */
export class Watchdog implements Disposable {
  readonly #options: WatchdogOptions;
  readonly #timer: NodeJS.Timeout;
  #signAt = performance.now();
  /**
   * Looks since the last sign. Not a time: when this very process stood still, no time has passed
   * for the other.
   */
  #silentLooks = 0;
  /** Of the process at the second look without a sign, and at the last ones. */
  #early: ProcessSigns | undefined;
  #lately: (ProcessSigns | undefined)[] = [];

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
    const { pid, stuckMsMax, hasWork, onStuck, readSigns = readProcessSigns } = this.#options;
    if (!hasWork()) {
      this.#silentLooks = 0;
      return;
    }
    this.#silentLooks += 1;
    // Most processes have given a sign by the second look. To read how one is takes two files for
    // each of its threads.
    if (this.#silentLooks === 1) return;
    const now = readSigns(pid);
    if (this.#silentLooks === 2) [this.#early, this.#lately] = [now, []];
    const before = this.#lately.length < looks ? this.#early : this.#lately.shift();
    this.#lately.push(now);
    if (this.#silentLooks <= looks) return;
    const mayWaitForDisk = this.#silentLooks <= diskWaitFactor * looks;
    if (isKeptFromWorking({ early: this.#early, before, now }, stuckMsMax, mayWaitForDisk)) return;
    clearInterval(this.#timer);
    onStuck();
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}

/**
 * Whether it could not work, as far as the kernel says. `early`: when its silence began; `before`:
 * as long ago as it may be silent. The CPU comes first: a loop may touch a page that is on the disk
 * now and then, and what the disk makes slow gets no such share of a core.
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
