import { errorFields, type Log } from "../std/log.ts";
import { ServiceError, shown } from "../std/service-error.ts";
import { type EngineChild, engineLost, openEngineChild } from "./engine-child.ts";
import type { EngineDescription, SessionOptions } from "./engine-frames.ts";
import type {
  Recognition,
  RecognitionInput,
  RecognitionOptions,
  Recognizer,
} from "./recognizer.ts";
import { ReplayableInput } from "./replayable-input.ts";

export interface EnginePoolOptions {
  /** auto: the best that is installed for each language. */
  readonly engine: "auto" | "pocketsphinx" | "scripted";
  readonly processes: number;
  readonly log: Log;
  /** Gives up opening. */
  readonly signal?: AbortSignal;
}

export interface EnginePoolState {
  readonly processes: number;
  /** Of them, those that can recognise. */
  readonly ready: number;
  readonly sessions: number;
}

/** The engines in their processes. Disposing it ends them, and with an error every session. */
export interface EnginePool extends Recognizer, AsyncDisposable {
  /** What is loaded: each engine with its languages. */
  readonly engines: readonly EngineDescription[];
  state(): EnginePoolState;
}

const silenceMsDefault = 500;
/** A process that dies is started again after the first of these, and twice that each time that it dies soon again. */
const restartMsMin = 100;
const restartMsMax = 10_000;
/** A process that lived this long had no bad start. */
const soundMs = 60_000;
/** A recognition waits so long for a process while all are being started again. */
const readyWaitMsMax = 5000;
/** A waiting caller's recording is given to another process when its own dies; it is kept up to so much. */
const replaySecondsMax = 30;

/**
 * Starts the engine processes and waits for those that can load. Throws an Error that says what is missing when none can.
 */
export async function openEnginePool(options: EnginePoolOptions): Promise<EnginePool> {
  const pool = new ProcessPool(options);
  try {
    await pool.open();
    return pool;
  } catch (error) {
    await pool[Symbol.asyncDispose]();
    throw error;
  }
}

class ProcessPool implements EnginePool {
  readonly #options: EnginePoolOptions;
  readonly #slots: Slot[];
  /** Called once when a process has become ready, or the pool is closed. */
  readonly #readyWaiters = new Set<() => void>();
  #engines: readonly EngineDescription[] = [];
  #isClosed = false;

  constructor(options: EnginePoolOptions) {
    this.#options = options;
    this.#slots = Array.from({ length: options.processes }, () => new Slot());
  }

  get engines(): readonly EngineDescription[] {
    return this.#engines;
  }

  get languageCodes(): readonly string[] {
    return this.#engines.flatMap(({ languageCodes }) => languageCodes).toSorted();
  }

  state(): EnginePoolState {
    const children = this.#children();
    return {
      processes: this.#slots.length,
      ready: children.length,
      sessions: children.reduce((sum, child) => sum + child.sessions, 0),
    };
  }

  async open(): Promise<void> {
    const { signal, log } = this.#options;
    const aborted = Promise.withResolvers<never>();
    const abort = () => aborted.reject(signal?.reason);
    signal?.addEventListener("abort", abort);
    aborted.promise.catch(() => {});
    try {
      signal?.throwIfAborted();
      const opening = Promise.allSettled(this.#slots.map((slot) => this.#start(slot)));
      const failures = (await Promise.race([opening, aborted.promise])).flatMap((result) =>
        result.status === "rejected" ? [result.reason] : [],
      );
      if (failures.length === this.#slots.length) throw failures[0];
      for (const failure of failures) log.error(errorFields(failure), "engine.failed");
      this.#engines = this.#children()[0]?.engines ?? [];
    } finally {
      signal?.removeEventListener("abort", abort);
    }
    for (const slot of this.#slots) if (!slot.child) this.#restart(slot);
  }

  async *recognize(
    input: AsyncIterable<RecognitionInput> | Iterable<RecognitionInput>,
    options: RecognitionOptions,
  ): AsyncGenerator<Recognition, void, undefined> {
    const session = this.#sessionOptions(options);
    const canReplay = options.mode !== "live";
    const keptSeconds = canReplay ? replaySecondsMax : 0;
    const source = new ReplayableInput(input, keptSeconds * options.sampleRateHertz);
    try {
      let finals = 0;
      for (let attempt = 1; ; attempt++) {
        let known = finals;
        try {
          const child = await this.#readyChild(options.signal);
          for await (const recognition of child.recognize(source, session, options.signal)) {
            // The second process hears again what the first has already told.
            if (known > 0) {
              known -= recognition.isFinal ? 1 : 0;
              continue;
            }
            finals += recognition.isFinal ? 1 : 0;
            yield recognition;
          }
          return;
        } catch (error) {
          const isLost = error instanceof ServiceError && error.reason === engineLost;
          if (!isLost || !canReplay || attempt > 1 || !source.isWhole) throw error;
          this.#options.log.info({ mode: options.mode }, "engine.replay");
        }
      }
    } finally {
      await source.close();
    }
  }

  #sessionOptions(options: RecognitionOptions): SessionOptions {
    if (!this.languageCodes.includes(options.languageCode)) {
      const installed = this.languageCodes.join(", ");
      throw new ServiceError(
        "invalid_argument",
        `languageCode is ${shown(options.languageCode)}: installed are ${installed}`,
      );
    }
    return {
      languageCode: options.languageCode,
      mode: options.mode,
      sampleRateHertz: options.sampleRateHertz,
      alternativesMax: options.alternativesMax ?? 1,
      interim: options.interim ?? false,
      silenceMsMin: options.silenceMsMin ?? silenceMsDefault,
      ...(options.utteranceMsMax !== undefined && { utteranceMsMax: options.utteranceMsMax }),
    };
  }

  #children(): EngineChild[] {
    return this.#slots.flatMap(({ child }) => child ?? []);
  }

  /** The process with the fewest sessions; waits for a moment when there is none. */
  async #readyChild(signal: AbortSignal | undefined): Promise<EngineChild> {
    const endsAt = performance.now() + readyWaitMsMax;
    for (;;) {
      signal?.throwIfAborted();
      const [first, ...others] = this.#children();
      if (first) {
        return others.reduce(
          (best, child) => (child.sessions < best.sessions ? child : best),
          first,
        );
      }
      const leftMs = endsAt - performance.now();
      if (this.#isClosed || leftMs <= 0) {
        throw new ServiceError("unavailable", "no speech engine is ready; try again", {
          reason: this.#isClosed ? "CLOSING" : "NO_ENGINE",
          retryAfterMs: 1000,
        });
      }
      await this.#someoneReady(leftMs, signal);
    }
  }

  /** Waits until a process is ready, the time is over, or the signal comes. */
  async #someoneReady(ms: number, signal: AbortSignal | undefined): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const wake = () => resolve();
    const timer = setTimeout(wake, ms);
    this.#readyWaiters.add(wake);
    signal?.addEventListener("abort", wake);
    await promise;
    clearTimeout(timer);
    this.#readyWaiters.delete(wake);
    signal?.removeEventListener("abort", wake);
  }

  #wakeWaiters(): void {
    for (const wake of this.#readyWaiters) wake();
  }

  async #start(slot: Slot): Promise<void> {
    const child = await openEngineChild(this.#options.engine, this.#options.log);
    if (this.#isClosed) return child.close();
    const startedAt = performance.now();
    slot.child = child;
    this.#wakeWaiters();
    void child.gone.then((how) => {
      slot.child = undefined;
      if (this.#isClosed) return;
      this.#options.log.warn({ pid: child.pid, how }, "engine.lost");
      if (performance.now() - startedAt >= soundMs) slot.restartMs = restartMsMin;
      this.#restart(slot);
    });
  }

  #restart(slot: Slot): void {
    if (this.#isClosed) return;
    slot.timer = setTimeout(() => {
      slot.starting = this.#start(slot).catch((error: unknown) => {
        this.#options.log.error(errorFields(error), "engine.failed");
        this.#restart(slot);
      });
    }, slot.restartMs);
    slot.restartMs = Math.min(2 * slot.restartMs, restartMsMax);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    this.#wakeWaiters();
    for (const slot of this.#slots) clearTimeout(slot.timer);
    await Promise.all(
      this.#slots.map(async (slot) => {
        await slot.starting;
        await slot.child?.close();
      }),
    );
  }
}

/** The place of one engine process, which is filled again when it dies. */
class Slot {
  child: EngineChild | undefined;
  timer: NodeJS.Timeout | undefined;
  starting: Promise<void> | undefined;
  restartMs = restartMsMin;
}
