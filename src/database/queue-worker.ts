import { setTimeout as sleep } from "node:timers/promises";
import type { Log } from "../std/log.ts";
import { repeat } from "../std/repeat.ts";
import { isDatabaseTrouble } from "./database-trouble.ts";

/** A step that is repeated until a worker is disposed of. */
export interface RepeatedStep {
  /** The wait after each run. */
  readonly everyMs: number;
  /** The log event of a failure. */
  readonly event: string;
  readonly act: (signal: AbortSignal) => Promise<void>;
}

export interface QueueWorkerOptions<Row> {
  /** The maximum number of rows that are worked on concurrently. */
  readonly runningMax: number;
  /** The wait for rows when none are due. */
  readonly pollMs: number;
  /** Leases rows that are due, at most `room`. */
  readonly lease: (room: number) => Promise<readonly Row[]>;
  /** The log event of a lease that failed. */
  readonly leaseFailed: string;
  /**
   * Works on a row. `stopped` aborts when the work has to end, with the time for it over. Another
   * worker leases a row whose work rejects, when its lease expires.
   */
  readonly work: (row: Row, stopped: AbortSignal) => Promise<void>;
  /** Called if the work on a row rejects. */
  readonly onLost: (row: Row, error: unknown) => void;
  /** How long a worker that stops lets its rows go on. */
  readonly stopMsMax: number;
  /** What is done next to the rows. */
  readonly steps: readonly RepeatedStep[];
  readonly log: Log;
}

/** Leases rows of a queue as they become due, and works on several of them concurrently. */
export class QueueWorker<Row> implements AsyncDisposable {
  readonly #options: QueueWorkerOptions<Row>;
  readonly #running = new Set<Promise<void>>();
  readonly #stopping = new AbortController();
  readonly #stopped = new AbortController();
  readonly #loops: Promise<unknown>;

  constructor(options: QueueWorkerOptions<Row>) {
    this.#options = options;
    const next = { everyMs: 0, event: options.leaseFailed, act: () => this.#next() };
    this.#loops = Promise.all([next, ...options.steps].map((step) => this.#repeat(step)));
  }

  /** Leases no more rows, and waits until the work on those that are leased has ended. */
  async [Symbol.asyncDispose](): Promise<void> {
    const { stopMsMax } = this.#options;
    this.#stopping.abort(new Error("the worker stops"));
    const timer = setTimeout(() => this.#stopped.abort(this.#stopping.signal.reason), stopMsMax);
    await this.#loops;
    await Promise.all(this.#running);
    clearTimeout(timer);
  }

  async #repeat({ everyMs, event, act }: RepeatedStep): Promise<void> {
    const { log, pollMs } = this.#options;
    const { signal } = this.#stopping;
    const failing = { event, afterFailureMs: pollMs * 4, isWarning: isDatabaseTrouble };
    await repeat({ everyMs, ...failing, log, signal }, () => act(signal));
  }

  /** Starts the work on rows that are due, as far as there is room; otherwise waits. */
  async #next(): Promise<void> {
    const { runningMax, pollMs, lease } = this.#options;
    const room = runningMax - this.#running.size;
    const rows = room > 0 ? await lease(room) : [];
    for (const row of rows) this.#start(row);
    if (rows.length > 0) return;
    const woken = new AbortController();
    const signal = AbortSignal.any([this.#stopping.signal, woken.signal]);
    const wait = sleep(pollMs, undefined, { signal }).catch(() => {});
    await Promise.race([wait, ...this.#running]);
    woken.abort();
  }

  #start(row: Row): void {
    const { work, onLost } = this.#options;
    const run = work(row, this.#stopped.signal)
      .catch((error: unknown) => onLost(row, error))
      .finally(() => this.#running.delete(run));
    this.#running.add(run);
  }
}
