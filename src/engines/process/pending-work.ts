import type { ProcessSigns } from "../protocol/process-signs.ts";
import { answerMsMax } from "../protocol/remote-answer.ts";

/** Work that took next to no CPU for so many looks in a row hangs. */
const idleLooksMax = 5;
const idleShareMax = 0.02;
/** So does what takes longer than hearing any utterance. */
const pendingMsMax = 300_000;

interface BegunWork {
  readonly isRemote: boolean;
  readonly untilMs: number;
}

/**
 * Work off the event loop, which says nothing of it. Whether work of this machine makes progress is
 * seen from the CPU time that the process takes; it is not taken for hung while it waits for a
 * core, for the disk, or by its own word for another machine (remote-answer.ts). Looked at now and
 * then.
 */
export class PendingWork {
  readonly #read: () => ProcessSigns;
  readonly #begun = new Set<BegunWork>();
  #lookedMs = performance.now();
  #signs: ProcessSigns | undefined;
  #idleLooks = 0;

  constructor(read: () => ProcessSigns) {
    this.#read = read;
  }

  /** Counts until the promise settles. */
  add(work: Promise<unknown>): void {
    const msMax = answerMsMax(work);
    const untilMs = performance.now() + (msMax ?? pendingMsMax);
    const begun = { isRemote: msMax !== undefined, untilMs };
    this.#begun.add(begun);
    const end = () => {
      this.#begun.delete(begun);
      this.#idleLooks = 0;
    };
    work.then(end, end);
  }

  /** Whether there is work, and nothing seems to come of it any more. */
  looksHung(): boolean {
    const nowMs = performance.now();
    const [before, lookedMs] = [this.#signs, this.#lookedMs];
    const isLocal = this.#begun.values().some(({ isRemote }) => !isRemote);
    // Who has nothing to do is not looked at: it costs a file for each thread.
    this.#signs = isLocal ? this.#read() : undefined;
    this.#lookedMs = nowMs;
    const isIdle = isLocal && !getsOn(before, this.#signs, nowMs - lookedMs);
    this.#idleLooks = isIdle ? this.#idleLooks + 1 : 0;
    const isOld = this.#begun.values().some(({ untilMs }) => nowMs > untilMs);
    return isOld || this.#idleLooks >= idleLooksMax;
  }
}

/** Whether the process worked between two looks, or could not. */
function getsOn(
  before: ProcessSigns | undefined,
  now: ProcessSigns | undefined,
  lookMs: number,
): boolean {
  if (!now || !before) return false;
  if (now.first.waitsForDisk || now.others.waitsForDisk || now.pageIns > before.pageIns)
    return true;
  // The thread of the event loop runs by this very look, and is always kept waiting a little.
  if (now.others.canRun) return true;
  const starvedMs = now.others.starvedMs - before.others.starvedMs;
  const busyMs = now.cpuMs - before.cpuMs + starvedMs;
  return busyMs / Math.max(1, lookMs) >= idleShareMax;
}
