import { monitorEventLoopDelay } from "node:perf_hooks";
import { Distribution, type Summary } from "./distribution.ts";

/**
 * The CPU time and delays of this process. If they are too high, the tool was measured instead of
 * the server.
 */
export interface ToolUse {
  readonly cpuMs: number;
  readonly wallMs: number;
  /** The delays of the event loop: the 99th percentile and the maximum. */
  readonly eventLoopDelayMs: { readonly p99: number; readonly max: number };
  /** The delays of paced messages. */
  readonly sendsLateMs: Summary | undefined;
  /** The number of messages that were more than `lateMs` late. */
  readonly lateSends: number;
  /** Why the tool limited the measured figures; undefined if it did not. */
  readonly bottleneck: string | undefined;
}

/** A message that is more than this late was not sent on time. */
const lateMs = 20;
/**
 * The tool was the bottleneck if a larger share of messages was late, if it used a larger share of
 * one core, or if the p99 of the event loop's delay was longer.
 */
const lateShareMax = 0.01;
const coreShareMax = 0.9;
const delayMsMax = 50;
const resolutionMs = 10;

export class ToolWatch implements Disposable {
  readonly #late = new Distribution();
  readonly #delay = monitorEventLoopDelay({ resolution: resolutionMs });
  readonly #cpu = process.cpuUsage();
  readonly #startedAt = performance.now();
  #lateSends = 0;
  #sends = 0;

  constructor() {
    this.#delay.enable();
  }

  sent(byMs: number): void {
    this.#sends += 1;
    if (byMs > lateMs) this.#lateSends += 1;
    this.#late.add(byMs);
  }

  stop(): ToolUse {
    this.#delay.disable();
    const { user, system } = process.cpuUsage(this.#cpu);
    const use = {
      cpuMs: (user + system) / 1000,
      wallMs: performance.now() - this.#startedAt,
      eventLoopDelayMs: {
        p99: Math.max(0, this.#delay.percentile(99) / 1e6 - resolutionMs),
        max: Math.max(0, this.#delay.max / 1e6 - resolutionMs),
      },
      sendsLateMs: this.#late.summary(),
      lateSends: this.#lateSends,
    };
    return { ...use, bottleneck: bottleneckOf(use, this.#sends) };
  }

  [Symbol.dispose](): void {
    this.#delay.disable();
  }
}

function bottleneckOf(use: Omit<ToolUse, "bottleneck">, sends: number): string | undefined {
  const share = use.lateSends / Math.max(1, sends);
  if (share > lateShareMax) {
    return `${(100 * share).toFixed(1)} % of its messages went out more than ${lateMs} ms late`;
  }
  if (use.cpuMs > coreShareMax * use.wallMs) {
    return `it used ${(use.cpuMs / use.wallMs).toFixed(2)} of its one core`;
  }
  const { p99 } = use.eventLoopDelayMs;
  if (p99 > delayMsMax) return `its event loop was ${p99.toFixed(0)} ms behind at p99`;
  return undefined;
}
