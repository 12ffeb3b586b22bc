import type { ProcessSigns } from "../protocol/process-signs.ts";
import { answerMsMax } from "../protocol/remote-answer.ts";

/** The number of consecutive checks with almost no CPU time after which work counts as hung. */
const idleChecksMax = 5;
const idleShareMax = 0.02;
/**
 * The maximum duration of work: longer than decoding any utterance takes. Work that takes longer
 * also counts as hung.
 */
const pendingMsMax = 300_000;

interface BegunWork {
  readonly isRemote: boolean;
  readonly untilMs: number;
}

/**
 * Detects work on other threads that hangs, which a promise does not show. Work on this machine
 * makes progress if the process takes CPU time, but it may also wait for a core or the disk. Work
 * that is marked (remote-answer.ts) may wait for another machine. Must be checked at regular
 * intervals.
 */
export class PendingWork {
  readonly #read: () => ProcessSigns;
  readonly #begun = new Set<BegunWork>();
  #checkedMs = performance.now();
  #signs: ProcessSigns | undefined;
  #idleChecks = 0;

  constructor(read: () => ProcessSigns) {
    this.#read = read;
  }

  /** Adds work that ends when the promise settles. */
  add(work: Promise<unknown>): void {
    const msMax = answerMsMax(work);
    const untilMs = performance.now() + (msMax ?? pendingMsMax);
    const begun = { isRemote: msMax !== undefined, untilMs };
    this.#begun.add(begun);
    const end = () => {
      this.#begun.delete(begun);
      this.#idleChecks = 0;
    };
    work.then(end, end);
  }

  /** Returns whether any work has stopped making progress. */
  isHung(): boolean {
    const nowMs = performance.now();
    const [before, checkedMs] = [this.#signs, this.#checkedMs];
    const isLocal = this.#begun.values().some(({ isRemote }) => !isRemote);
    // The signs are not read while there is no work, since that requires reading a file for each
    // thread.
    this.#signs = isLocal ? this.#read() : undefined;
    this.#checkedMs = nowMs;
    const isIdle = isLocal && !makesProgress(before, this.#signs, nowMs - checkedMs);
    this.#idleChecks = isIdle ? this.#idleChecks + 1 : 0;
    const isOld = this.#begun.values().some(({ untilMs }) => nowMs > untilMs);
    return isOld || this.#idleChecks >= idleChecksMax;
  }
}

/** Returns whether the process worked between two checks, or was kept from working. */
function makesProgress(
  before: ProcessSigns | undefined,
  now: ProcessSigns | undefined,
  elapsedMs: number,
): boolean {
  if (!now || !before) return false;
  if (now.first.waitsForDisk || now.others.waitsForDisk || now.pageIns > before.pageIns)
    return true;
  // The main thread runs because of this check, and always waits a little, so it does not count.
  if (now.others.canRun) return true;
  const starvedMs = now.others.starvedMs - before.others.starvedMs;
  const busyMs = now.cpuMs - before.cpuMs + starvedMs;
  return busyMs / Math.max(1, elapsedMs) >= idleShareMax;
}
