import type { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { Log } from "../std/log.ts";
import type { FrontStart, Queue, ScrapeReply, ScrapeRequest } from "./front-messages.ts";
import { frontName } from "./front-messages.ts";
import { FrontProcess, type FrontProgram } from "./front-process.ts";
import type { SharedPort } from "./shared-port.ts";

/** The delay before a front process is started again doubles up to the maximum. */
const restartMsMin = 100;
const restartMsMax = 10_000;
/** A front process that served for this long is started again without a delay. */
const usefulMs = 30_000;
/** How long front processes may take to close at the end, after which they are killed. */
const closeMsMax = 20_000;

export interface FrontProcessesOptions extends FrontProgram {
  /** The number of front processes. */
  readonly count: number;
  /** What each front process gets, except its number and the address. */
  readonly start: Omit<FrontStart, "kind" | "front" | "bound" | "isKept">;
  /** The environment with the settings. */
  readonly environment: NodeJS.ProcessEnv;
  /** How long streams of a front process that is replaced may continue. */
  readonly drainMsMax: () => number;
  readonly onArrival: (queue: Queue) => void;
  readonly scrape: (request: ScrapeRequest) => Promise<ScrapeReply>;
  readonly log: Log;
  readonly signal: AbortSignal;
}

/** A front process, as the metrics show it. */
export interface MeasuredFront {
  readonly name: string;
  readonly connections: number;
  readonly families: readonly object[];
}

/**
 * The front processes of a node: child processes that serve its port. One that ends is replaced.
 */
export class FrontProcesses implements AsyncDisposable {
  readonly #port: SharedPort;
  readonly #options: FrontProcessesOptions;
  /** The front processes by number; those that are being replaced are in `#all` only. */
  readonly #current = new Map<number, FrontProcess>();
  readonly #all = new Set<FrontProcess>();
  readonly #ending = new AbortController();
  #replacing: Promise<void> | undefined;
  #losses = 0;

  private constructor(port: SharedPort, options: FrontProcessesOptions) {
    this.#port = port;
    this.#options = options;
    port.serve(() => this.#current.values());
  }

  /**
   * Starts the front processes, and waits until all serve. One that hangs is replaced. Rejects if
   * one fails to start.
   */
  static async open(port: SharedPort, options: FrontProcessesOptions): Promise<FrontProcesses> {
    const fronts = new FrontProcesses(port, options);
    const stop = () => fronts.#kill();
    options.signal.addEventListener("abort", stop);
    try {
      const numbers = Array.from({ length: options.count }, (_, at) => at + 1);
      const started = await Promise.all(numbers.map((number) => fronts.#startFirst(number)));
      options.signal.throwIfAborted();
      for (const front of started) void fronts.#keep(front);
      return fronts;
    } catch (error) {
      await fronts[Symbol.asyncDispose]();
      options.signal.throwIfAborted();
      throw error;
    } finally {
      options.signal.removeEventListener("abort", stop);
    }
  }

  #notScraped(error: unknown): ScrapeReply {
    const problem = error instanceof Error ? error.message : String(error);
    this.#options.log.error({ problem }, "metrics.not_read");
    const headers = { "content-type": "text/plain; charset=utf-8" };
    return { status: 500, headers, body: "the metrics cannot be read: the log says why\n" };
  }

  get openStreams(): number {
    return this.#all.values().reduce((sum, { openStreams }) => sum + openStreams, 0);
  }

  /** How many front processes have ended although they were needed. */
  get losses(): number {
    return this.#losses;
  }

  /** Returns the metrics of each front process. */
  async measure(): Promise<readonly MeasuredFront[]> {
    return await Promise.all(
      Array.from(this.#all, async (front) => {
        const families = await front.measure();
        const { number, connections } = front;
        return { name: frontName(number), connections, families };
      }),
    );
  }

  /** Called with the metrics of each front process that has ended, as they were read last. */
  onEnd: (families: readonly object[]) => void = () => {};

  leave(): void {
    for (const front of this.#all) front.leave();
  }

  reload(): void {
    for (const front of this.#all) front.reload();
  }

  /**
   * Drains every front process. Resolves when all have ended. Those that hang are killed some time
   * after the end of the drain.
   */
  async drain(msMax: number, hurried: AbortSignal): Promise<void> {
    this.#ending.abort();
    let killing: NodeJS.Timeout | undefined;
    const killAfter = (ms: number) => {
      clearTimeout(killing);
      killing = setTimeout(() => this.#kill(), ms + closeMsMax);
    };
    const hurry = () => {
      killAfter(0);
      for (const front of this.#all) front.hurry();
    };
    killAfter(msMax);
    for (const front of this.#all) front.drain(msMax, false);
    hurried.addEventListener("abort", hurry);
    if (hurried.aborted) hurry();
    await Promise.all(Array.from(this.#all, ({ exited }) => exited));
    hurried.removeEventListener("abort", hurry);
    clearTimeout(killing);
  }

  /**
   * Replaces the front processes one after another: the new one serves before the old one is
   * drained. If one cannot be started, the old ones that are left continue.
   */
  async replace(): Promise<void> {
    this.#replacing ??= this.#replaceEach().finally(() => {
      this.#replacing = undefined;
    });
    await this.#replacing;
  }

  async #replaceEach(): Promise<void> {
    const { log, drainMsMax } = this.#options;
    for (const number of this.#current.keys()) {
      if (this.#ending.signal.aborted) return;
      const next = this.#start(number);
      try {
        await next.ready;
      } catch (error) {
        const problem = error instanceof Error ? error.message : String(error);
        log.error({ front: number, problem }, "front.not_replaced");
        return;
      }
      const old = this.#current.get(number);
      this.#current.set(number, next);
      void this.#keep(next);
      this.#port.passWaiting();
      old?.drain(drainMsMax(), true);
      await old?.exited;
      log.info({ front: number, pid: next.pid }, "front.replaced");
    }
  }

  /** Starts a front process until one serves. Rejects if it fails, rather than hangs. */
  async #startFirst(number: number): Promise<FrontProcess> {
    const signal = AbortSignal.any([this.#options.signal, this.#ending.signal]);
    for (let restartMs = restartMsMin; ; restartMs = Math.min(2 * restartMs, restartMsMax)) {
      const front = this.#start(number);
      this.#current.set(number, front);
      try {
        await front.ready;
        return front;
      } catch (error) {
        if (!front.isGivenUp || this.#ending.signal.aborted) throw error;
      }
      await sleep(restartMs, undefined, { signal });
    }
  }

  #start(number: number): FrontProcess {
    const { start, environment, onArrival, scrape, log } = this.#options;
    const { bound, isKept } = this.#port;
    const given = { kind: "start", front: number, bound, isKept, ...start } as const;
    const events = {
      takes: () => this.#port.passWaiting(),
      returned: (socket: Socket) => this.#port.pass(socket),
      arrived: onArrival,
      hung: (problem: string) => log.warn({ front: number, pid: front.pid, problem }, "front.hung"),
      scrape: (request: ScrapeRequest) =>
        scrape(request).catch((error: unknown) => this.#notScraped(error)),
    };
    const front: FrontProcess = new FrontProcess(given, environment, events, this.#options);
    this.#all.add(front);
    void front.exited.then(() => {
      this.#all.delete(front);
      this.onEnd(front.families);
    });
    return front;
  }

  /** Starts a front process again and again, until it is replaced or the node ends. */
  async #keep(front: FrontProcess): Promise<void> {
    const { log } = this.#options;
    const { signal } = this.#ending;
    let restartMs = 0;
    for (let running = front; ;) {
      const how = await running.exited;
      if (signal.aborted || this.#current.get(running.number) !== running) return;
      this.#losses += 1;
      log.error({ front: running.number, pid: running.pid, how }, "front.lost");
      const wasOfUse = performance.now() - running.startedAt >= usefulMs;
      restartMs = wasOfUse ? 0 : Math.min(Math.max(restartMsMin, 2 * restartMs), restartMsMax);
      await sleep(restartMs, undefined, { signal }).catch(() => {});
      if (signal.aborted || this.#current.get(running.number) !== running) return;
      running = this.#start(running.number);
      this.#current.set(running.number, running);
      const { number, pid } = running;
      running.ready.then(
        () => log.info({ front: number, pid }, "front.started"),
        () => {},
      );
    }
  }

  #kill(): void {
    for (const front of this.#all) front.kill();
  }

  /** Closes the front processes, whose streams send their final results. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#ending.abort();
    // Connections wait for the next process, not for a front process.
    if (this.#port.isKept) this.#port.close();
    for (const front of this.#all) front.close();
    const timer = setTimeout(() => this.#kill(), closeMsMax);
    await Promise.all(Array.from(this.#all, ({ exited }) => exited));
    clearTimeout(timer);
  }
}
