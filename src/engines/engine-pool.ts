import { availableParallelism } from "node:os";
import { errorFields, type Log } from "../std/log.ts";
import { ServiceError, shown } from "../std/service-error.ts";
import { Admission } from "./admission.ts";
import type { SessionOwner } from "./child-session.ts";
import { type EngineChild, openEngineChild } from "./engine-child.ts";
import type { EngineDescription, OpenSession, SessionOptions } from "./engine-frames.ts";
import { LiveDemand } from "./live-demand.ts";
import type { InputSource } from "./peekable-input.ts";
import type { Recognition, RecognitionOptions, Recognizer } from "./recognizer.ts";
import { type Place, ReplayedRecognition } from "./replayed-recognition.ts";

export interface EnginePoolOptions {
  /** auto: the best that is installed for each language. */
  readonly engine: "auto" | "pocketsphinx" | "scripted";
  readonly processes: number;
  readonly log: Log;
  /** Gives up opening. */
  readonly signal?: AbortSignal;
  /** A process that has audio and makes no progress for this long is replaced. Default 10 s. */
  readonly stuckMsMax?: number;
}

export interface EnginePoolState {
  readonly processes: number;
  /** Of them, those that can recognise. */
  readonly ready: number;
  readonly sessions: number;
  /** Live streams that can be heard at a time while all of them speak, as measured. */
  readonly streamsMax: number;
  /** Share of that which is in use; more than 1 when a process was lost. */
  readonly load: number;
}

/** The engines in their processes. Disposing it ends them, and with an error every session. */
export interface EnginePool extends Recognizer, AsyncDisposable {
  /** What is loaded: each engine with its languages. */
  readonly engines: readonly EngineDescription[];
  state(): EnginePoolState;
}

const silenceMsDefault = 500;
const stuckMsMaxDefault = 10_000;
/** A process that dies is started again after the first of these, and twice that each time that it dies without a use. */
const restartMsMin = 100;
const restartMsMax = 10_000;
/** A process that lived this long had no bad start. */
const soundMs = 60_000;
/** While a process is being started again, its sessions wait so long before they crowd another. */
const crowdMsMin = 5000;
/** While all processes are being started again, a new recognition waits so long for one, and one under way so long. */
const readyMsMax = { begins: 5000, goesOn: 30_000 } as const;

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
  #admission = new Admission(availableParallelism(), 0);
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
    const capacity = this.#admission.capacity(children);
    return {
      processes: this.#slots.length,
      ready: children.length,
      sessions: children.reduce((sum, child) => sum + child.sessions, 0),
      streamsMax: capacity.streams,
      load: capacity.load,
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
      const children = this.#children();
      this.#engines = children[0]?.engines ?? [];
      // The least: what a busy start adds to it is no work of theirs.
      const cpuPerSpeech = Math.min(...children.map((child) => child.cpuPerSpeech));
      this.#admission = new Admission(availableParallelism(), cpuPerSpeech);
    } finally {
      signal?.removeEventListener("abort", abort);
    }
    for (const slot of this.#slots) if (!slot.child) this.#restart(slot);
  }

  async *recognize(
    input: InputSource,
    options: RecognitionOptions,
  ): AsyncGenerator<Recognition, void, undefined> {
    const recognition = new ReplayedRecognition(input, this.#sessionOptions(options), {
      findPlace: (owner, payload, found) => this.#findPlace(owner, payload, found),
      demand: new LiveDemand(this.#admission.liveDemand),
      log: this.#options.log,
    });
    yield* recognition.results(options.signal);
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
    return this.#slots.flatMap(({ child }) => (child && !child.isGone ? child : []));
  }

  /** Opens a session where it is heard best; waits for a while when no process is ready. */
  async #findPlace(
    owner: SessionOwner,
    payload: OpenSession,
    { hadPlace, signal }: { readonly hadPlace: boolean; readonly signal: AbortSignal },
  ): Promise<Place> {
    const endsAt = performance.now() + (hadPlace ? readyMsMax.goesOn : readyMsMax.begins);
    const crowdsAt = performance.now() + crowdMsMin;
    for (;;) {
      signal.throwIfAborted();
      const children = this.#children();
      const child = hadPlace
        ? this.#admission.choose(owner.mode, children)
        : this.#admission.admit(owner.mode, children);
      // Nobody moves later: who would crowd a process that is full waits for the one that is being started.
      const isAway = children.length < this.#slots.length && !this.#isClosed;
      const waitMs = isAway ? crowdsAt - performance.now() : 0;
      if (child && hadPlace && waitMs > 0 && this.#admission.isCrowded(owner, child)) {
        await this.#someoneReady(waitMs, signal);
        continue;
      }
      if (child) {
        const session = child.open(owner, payload);
        return { session, leave: () => child.leave(session) };
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
  async #someoneReady(ms: number, signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const wake = () => resolve();
    const timer = setTimeout(wake, ms);
    this.#readyWaiters.add(wake);
    signal.addEventListener("abort", wake);
    await promise;
    clearTimeout(timer);
    this.#readyWaiters.delete(wake);
    signal.removeEventListener("abort", wake);
  }

  #wakeWaiters(): void {
    for (const wake of this.#readyWaiters) wake();
  }

  async #start(slot: Slot): Promise<void> {
    const { engine, log, stuckMsMax = stuckMsMaxDefault } = this.#options;
    const child = await openEngineChild({
      engine,
      log,
      stuckMsMax,
      onLoad: (report) => this.#admission.learn(report),
    });
    if (this.#isClosed) return child.close();
    const startedAt = performance.now();
    slot.child = child;
    this.#wakeWaiters();
    void child.gone.then((how) => {
      slot.child = undefined;
      if (this.#isClosed) return;
      log.warn({ pid: child.pid, how, ready: this.#children().length }, "engine.lost");
      const wasSound = child.hasSettled || performance.now() - startedAt >= soundMs;
      if (wasSound) slot.restartMs = restartMsMin;
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
