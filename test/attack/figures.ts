/** The time of one call. */
export interface Sample {
  readonly wallMs: number;
  /**
   * The CPU time of the service's main thread during the call. If the thread is blocked, this is as
   * long as the call.
   */
  readonly cpuMs: number;
}

/** The samples of the other account over a period of time. */
export interface Window {
  readonly health: Sample[];
  /** The times of list, get, create and submit calls. */
  readonly calls: Sample[];
  /** The times from the first sound of a word to the recognized word, over WebSocket and gRPC. */
  readonly live: Sample[];
  /** The first 20 failures of the account's calls. */
  readonly failures: string[];
  /** The maximum memory of the service's own process. */
  rssKbMax: number;
}

/** The p99 of each kind of sample in ms, and the other results of a window. */
export interface Figures {
  /**
   * The p99 of the response time of /healthz. `heldMs` is the p99 of the part of that time in which
   * the service's main thread worked.
   */
  readonly healthMs: number;
  readonly heldMs: number;
  /** The longest part of a response time in which the main thread worked. */
  readonly heldMsMax: number;
  readonly callsMs: number;
  readonly liveMs: number;
  readonly rssMb: number;
  readonly failures: readonly string[];
}

export function figuresOf({ health, calls, live, failures, rssKbMax }: Window): Figures {
  const held = health.map(({ wallMs, cpuMs }) => Math.min(wallMs, cpuMs));
  return {
    healthMs: p99(health.map(({ wallMs }) => wallMs)),
    heldMs: p99(held),
    heldMsMax: Math.max(0, ...held),
    callsMs: p99(calls.map(({ wallMs }) => wallMs)),
    liveMs: p99(live.map(({ wallMs }) => wallMs)),
    rssMb: Math.round(rssKbMax / 1024),
    failures,
  };
}

function p99(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return Math.ceil(sorted[Math.floor(sorted.length * 0.99)] ?? 0);
}
