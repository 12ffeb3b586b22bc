import { availableParallelism, totalmem } from "node:os";
import { errorFields, type Log } from "../../std/log.ts";
import { Admission, type LoadedProcess } from "./admission.ts";
import { type EngineChild, openEngineChild } from "./engine-child.ts";
import type { EngineDescription } from "../protocol/engine-frames.ts";
import type { LoadableModel } from "./loadable-models.ts";

/**
 * A process that dies is started again after the first of these, and twice that each time that it
 * dies without a use.
 */
const restartMsMin = 100;
const restartMsMax = 10_000;
/**
 * A process that follows the first of its model begins so long after it: until then the service
 * answers.
 */
const followMs = 1500;
/** A process that lived this long had no bad start. */
const soundMs = 60_000;
/**
 * All processes of a model together may fill this share of the memory; a loaded model takes about
 * so many times its files.
 */
const memoryShareMax = 0.25;
const memoryPerByte = 2;

export interface ModelProcessesOptions {
  readonly model: LoadableModel;
  /** At most; fewer where they would fill the memory. */
  readonly processes: number;
  /** So many of them are waited for; the others follow when the service has started. */
  readonly waitsFor: number;
  readonly log: Log;
  readonly stuckMsMax: number;
  /** Called when a process can be used, could not be started, or has nothing to do any more. */
  readonly onChange: () => void;
  /** The processes of all models: they share the machine. */
  readonly everyone: () => readonly LoadedProcess[];
}

/** The engine processes of one model, which are started again when they die. */
export class ModelProcesses implements AsyncDisposable {
  readonly model: LoadableModel;
  readonly #options: ModelProcessesOptions;
  readonly #slots: readonly Slot[];
  #engine: EngineDescription | undefined;
  #admission: Admission;
  #isRetired = false;
  #isClosed = false;
  /** Ends processes that are being started. */
  readonly #ending = new AbortController();

  constructor(options: ModelProcessesOptions) {
    this.model = options.model;
    this.#options = options;
    const count = processesWithin(options.model.bytes, options.processes);
    this.#slots = Array.from({ length: count }, () => new Slot());
    this.#admission = this.#admissionFor(0);
  }

  get processes(): number {
    return this.#slots.length;
  }

  get admission(): Admission {
    return this.#admission;
  }

  /** What its processes said when they were ready. */
  get engine(): EngineDescription | undefined {
    return this.#engine;
  }

  /** It takes no new sessions. */
  get isRetired(): boolean {
    return this.#isRetired;
  }

  /** A process is being started again. */
  get isIncomplete(): boolean {
    return !this.#isClosed && this.children().length < this.#slots.length;
  }

  /** Not each of its processes has been started once, or tried. */
  get isLoading(): boolean {
    return this.#slots.some(({ wasTried }) => !wasTried);
  }

  /** Those that can be used now. */
  children(): EngineChild[] {
    return this.#slots.flatMap(({ child }) => (child && !child.isGone ? child : []));
  }

  /**
   * Starts them and waits for the first. Throws an Error that says what is missing or wrong when
   * none of those can load the model.
   */
  async open(): Promise<void> {
    const { waitsFor, log } = this.#options;
    const opening = await Promise.allSettled(
      this.#slots.slice(0, waitsFor).map((slot) => {
        const started = this.#start(slot);
        slot.starting = started.then(
          () => {},
          () => {},
        );
        return started;
      }),
    );
    const failures = opening.flatMap((result) =>
      result.status === "rejected" ? [result.reason] : [],
    );
    if (failures.length === opening.length) throw failures[0];
    if (this.#isClosed) return;
    for (const failure of failures) log.error(errorFields(failure), "engine.failed");
    // Also those that have gone since: they are being started again.
    const children = opening.flatMap((result) =>
      result.status === "fulfilled" ? result.value : [],
    );
    this.#engine = children[0]?.engine;
    // The least: what a busy start adds to it is no work of theirs.
    this.#admission = this.#admissionFor(Math.min(...children.map((child) => child.cpuPerSpeech)));
    for (const [index, slot] of this.#slots.entries()) {
      const started = opening[index];
      if (!started) slot.restartMs = followMs;
      if (started?.status !== "fulfilled") this.#restart(slot);
    }
  }

  /**
   * Takes no new sessions; each process ends when its last one has. Resolves when all have gone.
   */
  async retire(): Promise<void> {
    this.#isRetired = true;
    this.#ending.abort();
    for (const slot of this.#slots) clearTimeout(slot.timer);
    await Promise.all(
      this.#slots.map(async (slot) => {
        await slot.starting;
        await slot.child?.closeWhenIdle();
      }),
    );
  }

  #admissionFor(cpuPerSpeech: number): Admission {
    return new Admission(availableParallelism(), cpuPerSpeech, this.#options.everyone);
  }

  async #start(slot: Slot): Promise<EngineChild> {
    const { model, log, stuckMsMax, onChange } = this.#options;
    const child = await openEngineChild({
      source: model.source,
      model: model.name,
      log,
      stuckMsMax,
      onLoad: (report) => this.#admission.learn(report),
      signal: this.#ending.signal,
    }).finally(() => {
      slot.wasTried = true;
    });
    if (this.#isClosed || this.#isRetired) {
      await child.close();
      return child;
    }
    const startedAt = performance.now();
    slot.child = child;
    onChange();
    void child.gone.then((how) => {
      slot.child = undefined;
      if (this.#isClosed || this.#isRetired) return;
      const ready = this.children().length;
      log.warn({ pid: child.pid, model: model.name, how, ready }, "engine.lost");
      const wasSound = child.hasSettled || performance.now() - startedAt >= soundMs;
      if (wasSound) slot.restartMs = restartMsMin;
      this.#restart(slot);
    });
    return child;
  }

  #restart(slot: Slot): void {
    if (this.#isClosed || this.#isRetired) return;
    slot.timer = setTimeout(() => {
      slot.starting = this.#start(slot).then(
        () => {},
        (error: unknown) => {
          if (this.#ending.signal.aborted) return;
          this.#options.log.error(errorFields(error), "engine.failed");
          this.#options.onChange();
          this.#restart(slot);
        },
      );
    }, slot.restartMs);
    slot.restartMs = Math.min(2 * slot.restartMs, restartMsMax);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    this.#ending.abort();
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
  wasTried = false;
}

/** One at least. */
export function processesWithin(
  modelBytes: number,
  processes: number,
  memoryBytes = totalmem(),
): number {
  const fitting = Math.floor((memoryBytes * memoryShareMax) / (modelBytes * memoryPerByte));
  return Math.max(1, Math.min(processes, fitting));
}
