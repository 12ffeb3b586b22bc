/**
 * The maximum number of calls that are started in one turn of the event loop, before health checks
 * and live audio run.
 */
const turnCallsMax = 32;
const turnMsMax = 8;

/** A call that has arrived. */
export interface PumpedCall {
  /** Returns the caller, as far as the headers identify it. */
  readonly caller: () => string;
  /** Returns whether the client has disconnected. If so, the call is not started. */
  readonly isGone: () => boolean;
  readonly begin: () => void;
}

/**
 * Starts calls, immediately while few arrive. In one turn of the event loop, at most 32 calls are
 * started, or as many as take 8 ms. Callers take turns.
 */
export class CallPump {
  /** The waiting calls by caller, in the order of the callers' turns. */
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

  /** Returns whether this turn has room for one more call. A turn begins with its first call. */
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

  /** Returns the next call. If its caller has more calls, that caller goes behind all others. */
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
