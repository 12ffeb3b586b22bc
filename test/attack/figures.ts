/** How long one call took. */
export interface Sample {
  readonly wallMs: number;
  /**
   * CPU that the service's main thread took meanwhile: of a node that is held it is as long as the
   * wait.
   */
  readonly cpuMs: number;
}

/** What the other account has seen in some time. */
export interface Window {
  readonly health: Sample[];
  /** Lists, gets, creates and submits. */
  readonly calls: Sample[];
  /** From the first sound of a word to the word, over WebSocket and gRPC. */
  readonly live: Sample[];
  /** Of its calls, the first 20. */
  readonly failures: string[];
  /** Of the service's own process. */
  rssKbMax: number;
}

/** The p99 of each in ms, and what else a window shows. */
export interface Figures {
  /** Of the wait for /healthz, and of the part of it in which the service's main thread worked. */
  readonly healthMs: number;
  readonly heldMs: number;
  /** The longest such part. */
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
