/** What one turn of the event loop begins of calls: then health and live audio have theirs. */
const turnCallsMax = 32;
const turnMsMax = 8;

/** A call that came. */
export interface PumpedCall {
  /** Whose it is, as far as its headers show. */
  readonly caller: () => string;
  /** Whether nobody waits for its answer any more: it is not begun. */
  readonly isGone: () => boolean;
  readonly begin: () => void;
}

/**
 * Begins calls: at once while few come; of many that come in one turn of the event loop at most 32,
 * or as many as take 8 ms, one of each caller after the other.
 */
export class CallPump {
  /** By caller, in the order in which their turns come. */
  readonly #waiting = new Map<string, PumpedCall[]>();
  #turnCalls = 0;
  #turnSince = 0;
  #isTurnOpen = false;

  add(call: PumpedCall): void {
    if (this.#waiting.size === 0 && this.#hasRoom()) {
      this.#turnCalls += 1;
      call.begin();
      return;
    }
    const caller = call.caller();
    const others = this.#waiting.get(caller);
    if (others) others.push(call);
    else this.#waiting.set(caller, [call]);
  }

  /** Whether the turn has room for one more call; a turn begins with the first one. */
  #hasRoom(): boolean {
    if (!this.#isTurnOpen) {
      this.#isTurnOpen = true;
      this.#turnCalls = 0;
      this.#turnSince = performance.now();
      setImmediate(() => {
        this.#isTurnOpen = false;
        this.#beginWaiting();
      });
      return true;
    }
    return this.#turnCalls < turnCallsMax && performance.now() - this.#turnSince < turnMsMax;
  }

  #beginWaiting(): void {
    while (this.#waiting.size > 0 && this.#hasRoom()) {
      const call = this.#next();
      if (call === undefined || call.isGone()) continue;
      this.#turnCalls += 1;
      call.begin();
    }
  }

  /** The caller whose turn it was goes behind all others, if it has more. */
  #next(): PumpedCall | undefined {
    for (const [caller, calls] of this.#waiting) {
      this.#waiting.delete(caller);
      const call = calls.shift();
      if (calls.length > 0) this.#waiting.set(caller, calls);
      return call;
    }
    return undefined;
  }
}
