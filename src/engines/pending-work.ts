/** Work that took next to no CPU for so many looks in a row hangs. */
const idleLooksMax = 5;
const idleShareMax = 0.02;
/** So does what takes longer than hearing any utterance. */
const pendingMsMax = 300_000;

/**
 * Work that goes on elsewhere than on the event loop, which tells nothing of it: whether it still gets on is told by the CPU time that the
 * process takes. Looked at now and then.
 */
export class PendingWork {
  readonly #cpuMs: () => number;
  readonly #begun = new Set<{ readonly sinceMs: number }>();
  #lookedMs = performance.now();
  #lookedCpuMs: number;
  #idleLooks = 0;

  constructor(cpuMs: () => number) {
    this.#cpuMs = cpuMs;
    this.#lookedCpuMs = cpuMs();
  }

  /** Counts until the promise settles. */
  add(work: Promise<unknown>): void {
    const begun = { sinceMs: performance.now() };
    this.#begun.add(begun);
    const end = () => {
      this.#begun.delete(begun);
      this.#idleLooks = 0;
    };
    work.then(end, end);
  }

  /** Whether there is work, and nothing seems to come of it any more. */
  looksHung(): boolean {
    const [nowMs, nowCpuMs] = [performance.now(), this.#cpuMs()];
    const share = (nowCpuMs - this.#lookedCpuMs) / Math.max(1, nowMs - this.#lookedMs);
    this.#lookedMs = nowMs;
    this.#lookedCpuMs = nowCpuMs;
    const isIdle = this.#begun.size > 0 && share < idleShareMax;
    this.#idleLooks = isIdle ? this.#idleLooks + 1 : 0;
    const isOld = this.#begun.values().some(({ sinceMs }) => nowMs - sinceMs > pendingMsMax);
    return isOld || this.#idleLooks >= idleLooksMax;
  }
}
