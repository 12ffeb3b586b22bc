import type { StreamEnd } from "../../metrics/recorders.ts";
import { ServiceError, shown } from "../../std/service-error.ts";
import {
  type AlignedWindow,
  type AlignOptions,
  alignmentNotSupported,
  type WordTime,
} from "../protocol/alignment.ts";
import type { RecognitionMode } from "../protocol/engine.ts";
import type {
  Recognition,
  RecognitionOptions,
  Recognizer,
  WindowSpeakers,
} from "../protocol/recognizer.ts";
import { liveLoad, type LoadedProcess } from "./admission.ts";
import { EngineNodes, type EngineNodesOptions } from "../nodes/engine-nodes.ts";
import { LiveDemand } from "./live-demand.ts";
import type { ModelProcesses } from "./model-processes.ts";
import type { InputSource } from "./peekable-input.ts";
import {
  type EnginePoolState,
  type PoolMeasures,
  type ServedModel,
  stateOf,
} from "./pool-state.ts";
import { ReadySignal } from "./ready-signal.ts";
import { unreached } from "./unreached-nodes.ts";
import { noEngine } from "../protocol/engine-absence.ts";
import { absenceWaitMs } from "./absence-wait.ts";
import { ReplayedDiarization } from "./replayed-diarization.ts";
import { ReplayedAlignment } from "./replayed-alignment.ts";
import { ReplayedRecognition } from "./replayed-recognition.ts";
import { isDiarizer, ServingModels, type ServingModelsOptions } from "./serving-models.ts";
import { sessionOptions } from "./session-options.ts";
import { SessionPlacement } from "./session-placement.ts";
import { traceRecognition } from "./trace-recognition.ts";

export interface EnginePoolOptions extends ServingModelsOptions {
  /** Aborts opening the pool. */
  readonly signal?: AbortSignal;
  /** The engine nodes whose models this node uses too. Default: none. */
  readonly nodes?: Omit<EngineNodesOptions, "log"> | undefined;
}

/**
 * The models in their engine processes. Disposing of the pool ends the processes, and their
 * sessions fail.
 */
export interface EnginePool extends Recognizer, AsyncDisposable {
  state(): EnginePoolState;
  /**
   * Resolves when all models that were found at the start have been loaded or refused; rejects with
   * the signal's reason.
   */
  loaded(signal: AbortSignal): Promise<void>;
  /** Returns the processes of each model, and how late live audio is. */
  measures(): PoolMeasures;
  /** Returns the installed models that could be loaded, by name. */
  models(): readonly ServedModel[];
}

/**
 * The interval at which loaded() checks again, because no waiter is woken when a model is removed
 * while it is being loaded.
 */
const recheckMs = 1000;
/** How long the start waits for the first engine node. Without any, the node is not ready. */
const firstModelMsMax = 10_000;
/** How long it then waits for the models of the others, and how often it looks for them. */
const knownMsMax = 1000;
const lookMs = 20;

/**
 * Starts the engine processes of every model and waits for those that can load. A model that cannot
 * load is logged as refused. If no model can load, it throws an Error that names what is missing.
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
  readonly #ready = new ReadySignal();
  readonly #serving: ServingModels;
  #nodes: EngineNodes | undefined;
  /** When it was first noticed that no process can diarize, since one could. */
  #withoutDiarizerSinceMs: number | undefined;

  constructor(options: EnginePoolOptions) {
    this.#options = options;
    this.#serving = new ServingModels(options, this.#ready);
  }

  languageCodes(mode: RecognitionMode): readonly string[] {
    // Every language would be unknown then.
    if (this.#nodes && this.#serving.all.length === 0) throw unreached(this.#nodes);
    return this.#serving.languageCodes(mode);
  }

  modelName(languageCode: string, mode: RecognitionMode, model?: string): string | undefined {
    return this.#serving.modelFor({ languageCode, mode, model })?.model.name;
  }

  takesHints(languageCode: string, mode: RecognitionMode, model?: string): boolean {
    return this.#serving.modelFor({ languageCode, mode, model })?.engine?.takesHints ?? false;
  }

  checkModelsKnown(): void {
    if (this.#nodes && this.#nodes.unknown().length > 0) throw unreached(this.#nodes);
  }

  canDiarize(): boolean {
    if (this.#serving.diarizer()) return true;
    // Otherwise recordings would wait for every missing engine node, without any diarizer too.
    if (this.#nodes && this.#nodes.neverKnown().length > 0) throw unreached(this.#nodes);
    return false;
  }

  checkDiarizer(): void {
    const children = this.#serving.diarizer()?.children() ?? [];
    if (children.some(({ isLeaving }) => !isLeaving)) {
      this.#withoutDiarizerSinceMs = undefined;
      return;
    }
    this.#withoutDiarizerSinceMs ??= performance.now();
    throw new ServiceError("unavailable", "no diarization process is ready; try again", {
      reason: noEngine,
      retryAfterMs: absenceWaitMs(performance.now() - this.#withoutDiarizerSinceMs),
    });
  }

  async diarize(window: Int16Array, signal: AbortSignal): Promise<WindowSpeakers> {
    const choose = () => this.#serving.diarizer();
    const placement = new SessionPlacement(choose(), choose, this.#ready);
    return await new ReplayedDiarization(window, placement, this.#options.log).run(signal);
  }

  alignedLanguageCodes(): readonly string[] {
    const codes = this.#serving.all.flatMap(({ model }) => model.languageCodes);
    return [...new Set(codes)]
      .filter((languageCode) => this.#serving.alignerFor(languageCode))
      .toSorted();
  }

  outputsModel(languageCode: string): string | undefined {
    return this.#serving.alignerFor(languageCode)?.engine?.outputsModel;
  }

  async align(
    window: AlignedWindow,
    words: readonly string[],
    { languageCode, signal }: AlignOptions,
  ): Promise<readonly WordTime[]> {
    const wanted = window instanceof Int16Array ? undefined : window.model;
    const find = () => this.#serving.alignerFor(languageCode);
    // A model that has replaced the one of the outputs would misread them.
    const choose = () =>
      wanted === undefined || find()?.engine?.outputsModel === wanted ? find() : undefined;
    if (!find()) {
      this.checkModelsKnown();
      const able = this.alignedLanguageCodes().join(", ") || "none";
      throw new ServiceError(
        "failed_precondition",
        `languageCode ${shown(languageCode)} has no installed model that aligns words; those with one: ${able}`,
        { reason: alignmentNotSupported },
      );
    }
    const placement = new SessionPlacement(choose(), choose, this.#ready);
    const { log } = this.#options;
    return await new ReplayedAlignment(window, { words, languageCode, placement, log }).run(signal);
  }

  state(): EnginePoolState {
    const { all } = this.#serving;
    const states = all.map((each) => ({
      state: stateOf(each, this.#serving.isLoading(each)),
      recognizes: !isDiarizer(each.model),
    }));
    const models = states.map(({ state }) => state);
    const recognizing = states.filter(({ recognizes }) => recognizes).map(({ state }) => state);
    return {
      processes: recognizing.reduce((sum, { processes }) => sum + processes, 0),
      ready: recognizing.reduce((sum, { ready }) => sum + ready, 0),
      sessions: this.#allProcesses().reduce((sum, { sessions }) => sum + sessions, 0),
      load: liveLoad(this.#serving.machines()),
      models,
      refused: this.#serving.refused,
      ...(this.#nodes && { nodes: this.#nodes.state() }),
    };
  }

  measures(): PoolMeasures {
    const { all } = this.#serving;
    const pidsOf = (each: ModelProcesses) =>
      each.children().flatMap(({ pid }) => (pid === 0 ? [] : pid));
    return {
      liveLateMs: Math.max(0, ...this.#allProcesses().map(({ liveLateMs }) => liveLateMs)),
      pids: new Map(all.map((each) => [each.model.name, pidsOf(each)])),
    };
  }

  #allProcesses(): readonly LoadedProcess[] {
    return this.#serving.machines().flatMap(({ processes }) => processes());
  }

  async loaded(signal: AbortSignal): Promise<void> {
    while (this.#serving.all.some((each) => this.#serving.isLoading(each))) {
      signal.throwIfAborted();
      await this.#ready.wait(recheckMs, signal);
    }
  }

  models(): readonly ServedModel[] {
    return this.#serving.models.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  }

  async open(): Promise<void> {
    const { signal, log, engine, nodes } = this.#options;
    if (nodes) this.#nodes = new EngineNodes(this.#serving, { ...nodes, log });
    if (engine === "scripted") {
      log.warn({ problem: "HLUST_ENGINE=scripted returns made-up words" }, "engine.scripted");
    }
    const aborted = Promise.withResolvers<never>();
    const abort = () => aborted.reject(signal?.reason);
    signal?.addEventListener("abort", abort);
    aborted.promise.catch(() => {});
    try {
      signal?.throwIfAborted();
      const opening = this.#serving.open();
      // If the signal aborted first, nothing awaits this promise.
      opening.catch(() => {});
      await Promise.race([opening, aborted.promise]);
      if (signal) await this.#firstModel(signal);
    } finally {
      signal?.removeEventListener("abort", abort);
    }
    this.#serving.reportUnmetChoices();
    this.#serving.watch();
  }

  /**
   * Waits until there is a model, since engine nodes may be starting as well, and shortly for the
   * models of all nodes: until they are known, what they may have is refused and repeated.
   */
  async #firstModel(signal: AbortSignal): Promise<void> {
    const endsAt = performance.now() + firstModelMsMax;
    while (this.#serving.all.length === 0) {
      signal.throwIfAborted();
      const leftMs = endsAt - performance.now();
      if (leftMs <= 0) return;
      await this.#ready.wait(leftMs, signal);
    }
    const knownBy = performance.now() + knownMsMax;
    while (this.#nodes && this.#nodes.unknown().length > 0 && performance.now() < knownBy) {
      signal.throwIfAborted();
      await this.#ready.wait(lookMs, signal);
    }
  }

  async *recognize(
    input: InputSource,
    options: RecognitionOptions,
  ): AsyncGenerator<Recognition, void, undefined> {
    const { languageCode, mode } = options;
    const choose = () => this.#serving.modelFor({ languageCode, mode, model: options.model });
    const model = choose();
    if (!model) {
      const installed = this.languageCodes(mode).join(", ");
      this.checkModelsKnown();
      throw new ServiceError(
        "invalid_argument",
        options.model === undefined
          ? `languageCode ${shown(languageCode)} has no installed model; installed: ${installed}`
          : `model ${shown(options.model)} is not installed, or does not recognize ${languageCode}`,
      );
    }
    const { liveEffort = "auto", log, recorder } = this.#options;
    const stream = mode === "live" ? recorder?.beginStream(model.model.name) : undefined;
    const recognition = new ReplayedRecognition(input, sessionOptions(options), {
      placement: new SessionPlacement(model, choose, this.#ready),
      demand: new LiveDemand(0),
      log,
      effort: options.effort ?? (liveEffort === "auto" ? undefined : liveEffort),
      onProgress: options.onProgress,
      onOutputs: options.onOutputs,
      stream,
    });
    try {
      const results = recognition.results(options.signal);
      yield* traceRecognition(results, { mode, model: model.model.name });
      stream?.end("complete");
    } catch (error) {
      stream?.end(streamEndOf(error));
      throw error;
    } finally {
      // The caller has left before the end.
      stream?.end("left");
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ready.close();
    await this.#nodes?.[Symbol.asyncDispose]();
    await this.#serving[Symbol.asyncDispose]();
  }
}

function streamEndOf(error: unknown): StreamEnd {
  if (!(error instanceof ServiceError)) return "failed";
  if (error.code === "cancelled") return "left";
  return error.code === "resource_exhausted" || error.code === "unavailable" ? "refused" : "failed";
}
