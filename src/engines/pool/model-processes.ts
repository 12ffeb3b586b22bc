import { processesWithin } from "../../models/model-memory.ts";
import type { EngineRecorder, EngineWork } from "../../metrics/recorders.ts";
import { errorFields, type Log } from "../../std/log.ts";
import type { EngineChild } from "./engine-child.ts";
import { openEngineChild } from "./open-engine-child.ts";
import type { EngineDescription } from "../protocol/engine-frames.ts";
import type { LoadableModel } from "./loadable-models.ts";
import type { EngineAbsence } from "../protocol/engine-absence.ts";
import type { LoadReport } from "../protocol/load-report.ts";
import type { OnnxOptions } from "../../models/onnx-options.ts";
import type { Machine } from "./machine.ts";
import { ModelAdmission } from "./model-admission.ts";
import type { ReadySignal } from "./ready-signal.ts";

/**
 * The initial delay before restarting a process that died. The delay doubles, up to restartMsMax,
 * each time the process exits before it has run for usefulMs.
 */
const restartMsMin = 100;
const restartMsMax = 10_000;
/**
 * The delay between starting a model's first process and the next one, so that the service can
 * begin to serve first.
 */
const followMs = 1500;
/** The running time after which the restart delay is reset. */
const usefulMs = 60_000;

/** Shares the processes of an engine node with its clients (nodes/shared-processes.ts). */
export interface ProcessShare {
  /** Shares a process until it ends. */
  add(child: EngineChild, model: LoadableModel): void;
  /** Accepts no more sessions in a process. */
  retire(child: EngineChild): void;
}

export interface ModelProcessesOptions {
  readonly model: LoadableModel;
  /** Replaces the detector of voice activity of the model's engine. */
  readonly voiceActivity?: "network" | undefined;
  /** How the networks of the ctc engine run. */
  readonly onnx?: OnnxOptions | undefined;
  /**
   * The maximum number of processes. Fewer are started if this many would take too much memory.
   */
  readonly processes: number;
  /**
   * The number of processes that open() waits for. The others start once the service has started.
   */
  readonly waitsFor: number;
  readonly log: Log;
  readonly stuckMsMax: number;
  /** Notified when a process is ready or could not be started. */
  readonly ready: Pick<ReadySignal, "notify">;
  /** Records what the processes do, for the metrics of the node. */
  readonly recorder?: EngineRecorder | undefined;
  readonly machine: Machine;
  /** Shares the processes with other nodes. */
  readonly share?: ProcessShare | undefined;
  /** The keys for the servers of hosted models, by the names of their variables. */
  readonly modelKeys?: Readonly<Record<string, string>> | undefined;
}

/**
 * The engine processes of one model: children of this process, which are restarted if they die, and
 * those of engine nodes.
 */
export class ModelProcesses implements AsyncDisposable {
  readonly model: LoadableModel;
  readonly #options: ModelProcessesOptions;
  readonly #slots: readonly Slot[];
  #engine: EngineDescription | undefined;
  #admission: ModelAdmission;
  /** The processes of engine nodes. */
  readonly #elsewhere = new Set<EngineChild>();
  #isRetired = false;
  #isClosed = false;
  /** Aborts the start of processes. */
  readonly #ending = new AbortController();

  constructor(options: ModelProcessesOptions) {
    this.model = options.model;
    this.#options = options;
    const isElsewhere = options.model.source.engine === "elsewhere";
    const count = isElsewhere ? 0 : processesWithin(options.model.bytes, options.processes);
    this.#slots = Array.from({ length: count }, () => new Slot());
    this.#admission = this.#admissionFor(0);
  }

  /** The number of processes that should run, and of those that do on engine nodes. */
  get processes(): number {
    return this.#slots.length + this.#elsewhere.size;
  }

  get admission(): ModelAdmission {
    return this.#admission;
  }

  /** The engine, as described by its processes when they became ready. */
  get engine(): EngineDescription | undefined {
    return this.#engine;
  }

  /** Whether the model accepts no new sessions. */
  get isRetired(): boolean {
    return this.#isRetired;
  }

  /** Whether some of the model's processes are not running. */
  get isIncomplete(): boolean {
    return !this.#isClosed && this.ownChildren().length < this.#slots.length;
  }

  /** Whether some of the model's processes are being started for the first time. */
  get isLoading(): boolean {
    return this.#slots.some(({ wasAttempted }) => !wasAttempted);
  }

  /** Returns the processes that are ready. */
  children(): EngineChild[] {
    return this.running().filter(({ absence }) => absence === undefined);
  }

  /** Returns the processes that run, also those of a hosted model whose server is absent. */
  running(): EngineChild[] {
    const running = this.#own();
    for (const child of this.#elsewhere) if (!child.hasExited) running.push(child);
    return running;
  }

  /** Why the server of a hosted model cannot recognize now; undefined if it can. */
  get absence(): EngineAbsence | undefined {
    const running = this.running();
    const isPresent = running.some(({ absence }) => absence === undefined);
    return isPresent ? undefined : running.at(0)?.absence;
  }

  /** Returns the children of this process that are ready. */
  ownChildren(): EngineChild[] {
    return this.#own().filter(({ absence }) => absence === undefined);
  }

  #own(): EngineChild[] {
    return this.#slots.flatMap(({ child }) => (child && !child.hasExited ? child : []));
  }

  /** Adds a process of an engine node, until it ends. */
  attach(child: EngineChild): void {
    if (this.#elsewhere.has(child) || child.hasExited) return;
    if (!this.#engine) {
      this.#engine = child.engine;
      this.#admission = this.#admissionFor(child.cpuPerSpeech);
    }
    this.#elsewhere.add(child);
    this.#options.ready.notify();
    void child.exited.then(() => this.#elsewhere.delete(child));
  }

  /** Sets whether this version of a model of engine nodes serves, or another one does. */
  setServing(isServing: boolean): void {
    this.#isRetired = !isServing;
    // Sessions that wait for a process choose again.
    this.#options.ready.notify();
  }

  /**
   * Starts the processes and waits for the first `waitsFor` of them. If none of those can load the
   * model, throws an Error that names what is missing or wrong.
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
    // This includes processes that have died since then, which are restarted.
    const children = opening.flatMap((result) =>
      result.status === "fulfilled" ? result.value : [],
    );
    this.#engine = children[0]?.engine;
    // The minimum is used, since the other values include delays of a busy start.
    this.#admission = this.#admissionFor(Math.min(...children.map((child) => child.cpuPerSpeech)));
    for (const [index, slot] of this.#slots.entries()) {
      const started = opening[index];
      if (!started) slot.restartMs = followMs;
      if (started?.status !== "fulfilled") this.#restart(slot);
    }
  }

  /**
   * Stops accepting sessions; each process ends with its last session. Resolves when all processes
   * have ended.
   */
  async retire(): Promise<void> {
    this.#isRetired = true;
    this.#ending.abort();
    for (const slot of this.#slots) clearTimeout(slot.timer);
    for (const child of this.#own()) this.#options.share?.retire(child);
    await Promise.all(
      this.#slots.map(async (slot) => {
        await slot.starting;
        await slot.child?.closeWhenIdle();
      }),
    );
  }

  #admissionFor(cpuPerSpeech: number): ModelAdmission {
    return new ModelAdmission(this.#options.machine, cpuPerSpeech, this.#engine);
  }

  async #start(slot: Slot): Promise<EngineChild> {
    const { model, voiceActivity, onnx, log, stuckMsMax, ready, recorder, machine } = this.#options;
    const { source } = model;
    if (source.engine === "elsewhere") throw new Error(`${model.name} is not on this machine`);
    const keyVariable = source.engine === "model" ? source.keyVariable : undefined;
    const child = await openEngineChild({
      key: keyVariable === undefined ? undefined : this.#options.modelKeys?.[keyVariable],
      source: { ...source, ...(voiceActivity && { voiceActivity }), ...(onnx && { onnx }) },
      machine,
      model: model.name,
      log,
      stuckMsMax,
      onLoad: (report) => {
        this.#admission.learnHere(report);
        recorder?.worked(model.name, workOf(report));
      },
      onAbsence: (absence) => this.#noteAbsence(absence),
      signal: this.#ending.signal,
    }).finally(() => {
      slot.wasAttempted = true;
    });
    if (this.#isClosed || this.#isRetired) {
      await child.close();
      return child;
    }
    const startedAt = performance.now();
    slot.child = child;
    if (child.absence) this.#noteAbsence(child.absence);
    ready.notify();
    this.#options.share?.add(child, model);
    void child.exited.then((how) => {
      slot.child = undefined;
      if (this.#isClosed || this.#isRetired) return;
      const left = this.ownChildren().length;
      log.warn({ pid: child.pid, model: model.name, how, ready: left }, "engine.lost");
      recorder?.exited(model.name, child.exitReason);
      const wasOfUse = child.hasCommitted || performance.now() - startedAt >= usefulMs;
      if (wasOfUse) slot.restartMs = restartMsMin;
      this.#restart(slot);
    });
    return child;
  }

  /** Sessions that wait for the server, or that it has left, look for a process again. */
  #noteAbsence(absence: EngineAbsence | undefined): void {
    const { log, ready, model } = this.#options;
    if (absence) log.warn({ model: model.name, ...absence }, "engine.absent");
    else log.info({ model: model.name }, "engine.present");
    ready.notify();
  }

  #restart(slot: Slot): void {
    if (this.#isClosed || this.#isRetired) return;
    slot.timer = setTimeout(() => {
      slot.starting = this.#start(slot).then(
        () => {},
        (error: unknown) => {
          if (this.#ending.signal.aborted) return;
          this.#options.log.error(errorFields(error), "engine.failed");
          this.#options.recorder?.exited(this.model.name, "not_loaded");
          this.#options.ready.notify();
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

/** Returns all work of a report. The additional work of full effort belongs to live streams. */
function workOf({ work, fullWork }: LoadReport): EngineWork {
  const cpuSeconds = work.live.cpuSeconds + fullWork.cpuSeconds;
  return { ...work, live: { ...work.live, cpuSeconds } };
}

/** One process of a model, including its replacements after restarts. */
class Slot {
  child: EngineChild | undefined;
  timer: NodeJS.Timeout | undefined;
  starting: Promise<void> | undefined;
  restartMs = restartMsMin;
  wasAttempted = false;
}
