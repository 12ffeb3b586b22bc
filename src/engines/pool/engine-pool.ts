import { ServiceError, shown } from "../../std/service-error.ts";
import type { SessionOwner } from "./child-session.ts";
import { chooseModel, languagesHeard, unmetChoices } from "./choose-model.ts";
import type { ModelChoice } from "../../models/model-choice.ts";
import type { RecognitionMode } from "../protocol/engine.ts";
import type { OpenSession, SessionOptions } from "../protocol/engine-frames.ts";
import { LiveDemand } from "./live-demand.ts";
import type { LoadableModel } from "./loadable-models.ts";
import type { ModelProcesses } from "./model-processes.ts";
import { askSpeakers } from "./ask-speakers.ts";
import type { InputSource } from "./peekable-input.ts";
import type {
  Recognition,
  RecognitionOptions,
  Recognizer,
  WindowSpeakers,
} from "../protocol/recognizer.ts";
import { type Place, ReplayedRecognition } from "./replayed-recognition.ts";
import {
  isDiarizer,
  type RefusedState,
  ServingModels,
  type ServingModelsOptions,
} from "./serving-models.ts";

export interface EnginePoolOptions extends ServingModelsOptions {
  /** Models that serve in place of the best. */
  readonly choice?: ModelChoice;
  /** Gives up opening. */
  readonly signal?: AbortSignal;
}

/** A loaded model. */
export interface ModelState {
  readonly name: string;
  readonly version: string;
  readonly languageCodes: readonly string[];
  readonly processes: number;
  /** Of them, those that can recognize. */
  readonly ready: number;
  /** It was found at the start, and its processes are still being loaded for the first time. */
  readonly loading: boolean;
  readonly sessions: number;
  /**
   * Live streams that can be heard at a time while all of them speak and nobody else does, as
   * measured; 0 of one that hears no words.
   */
  readonly streamsMax: number;
}

/** What an installed model is for, and how large it is. */
export type ServedModel = Pick<
  LoadableModel,
  "name" | "version" | "languageCodes" | "uses" | "bytes"
>;

export interface EnginePoolState {
  /** Without those that only tell speakers apart. */
  readonly processes: number;
  /** Of them, those that can recognize. */
  readonly ready: number;
  readonly sessions: number;
  /**
   * Share of what live streams may take of the machine that they take; more than 1 when a process
   * was lost.
   */
  readonly load: number;
  readonly models: readonly ModelState[];
  /** Models that are installed and could not be loaded. */
  readonly refused: readonly RefusedState[];
}

/**
 * The models in their engine processes. Disposing it ends them, and with an error every session.
 */
export interface EnginePool extends Recognizer, AsyncDisposable {
  state(): EnginePoolState;
  /**
   * Resolves when no model is being loaded of those that were found at the start; rejects with the
   * reason of the signal.
   */
  loaded(signal: AbortSignal): Promise<void>;
  /** Those that are installed and could be loaded, by name. */
  models(): readonly ServedModel[];
}

const silenceMsDefault = 500;
/** Models that are removed while they are loaded are not waited for longer than this. */
const lookAgainMs = 1000;
/** While a process is being started again, its sessions wait so long before they crowd another. */
const crowdMsMin = 5000;
/**
 * While all processes are being started again, a new recognition waits so long for one, and one
 * under way so long.
 */
const readyMsMax = { begins: 5000, goesOn: 30_000 } as const;

/**
 * Starts the engine processes of every model and waits for those that can load; a model that cannot
 * is logged as refused. Throws an Error that says what is missing when there is none.
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
  readonly #choice: ModelChoice;
  readonly #serving: ServingModels;
  /** Called once when a process has become ready, or the pool is closed. */
  readonly #readyWaiters = new Set<() => void>();
  #isClosed = false;

  constructor(options: EnginePoolOptions) {
    this.#options = options;
    this.#choice = options.choice ?? [];
    this.#serving = new ServingModels(options, this.#wakeWaiters);
  }

  languageCodes(mode: RecognitionMode): readonly string[] {
    return languagesHeard(this.#serving.models, mode, this.#choice);
  }

  takesHints(languageCode: string, mode: RecognitionMode): boolean {
    return this.#modelFor(languageCode, mode)?.engine?.takesHints ?? false;
  }

  canDiarize(): boolean {
    return this.#diarizer() !== undefined;
  }

  async diarize(window: Int16Array, signal: AbortSignal): Promise<WindowSpeakers> {
    const child = this.#diarizer()?.children().at(0);
    if (!child) throw new ServiceError("unavailable", "nothing tells speakers apart now");
    return await askSpeakers(child, window, signal);
  }

  state(): EnginePoolState {
    const { all, everyone } = this.#serving;
    const states = all.map((each) => ({
      state: stateOf(each, this.#serving.isLoading(each)),
      hears: !isDiarizer(each.model),
    }));
    const models = states.map(({ state }) => state);
    // A model that only tells speakers apart hears no word.
    const hearing = states.filter(({ hears }) => hears).map(({ state }) => state);
    return {
      processes: hearing.reduce((sum, { processes }) => sum + processes, 0),
      ready: hearing.reduce((sum, { ready }) => sum + ready, 0),
      sessions: everyone().reduce((sum, { sessions }) => sum + sessions, 0),
      load: all[0]?.admission.load() ?? 0,
      models,
      refused: this.#serving.refused,
    };
  }

  async loaded(signal: AbortSignal): Promise<void> {
    while (this.#serving.all.some((each) => this.#serving.isLoading(each))) {
      signal.throwIfAborted();
      await this.#someoneReady(lookAgainMs, signal);
    }
  }

  models(): readonly ServedModel[] {
    return this.#serving.models.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  }

  async open(): Promise<void> {
    const { signal } = this.#options;
    const aborted = Promise.withResolvers<never>();
    const abort = () => aborted.reject(signal?.reason);
    signal?.addEventListener("abort", abort);
    aborted.promise.catch(() => {});
    try {
      signal?.throwIfAborted();
      const opening = this.#serving.open();
      // Nobody hears of it when the signal was first.
      opening.catch(() => {});
      await Promise.race([opening, aborted.promise]);
    } finally {
      signal?.removeEventListener("abort", abort);
    }
    for (const problem of unmetChoices(this.#serving.models, this.#choice)) {
      this.#options.log.warn({ problem }, "model.choice_unmet");
    }
    this.#serving.watch();
  }

  async *recognize(
    input: InputSource,
    options: RecognitionOptions,
  ): AsyncGenerator<Recognition, void, undefined> {
    const { languageCode, mode } = options;
    let model = this.#modelFor(languageCode, mode);
    if (!model) {
      const installed = this.languageCodes(mode).join(", ");
      throw new ServiceError(
        "invalid_argument",
        `languageCode is ${shown(languageCode)}: installed are ${installed}`,
      );
    }
    const recognition = new ReplayedRecognition(input, sessionOptions(options), {
      findPlace: (owner, payload, found) => {
        const current = () => {
          // Its own has been replaced or removed while it went on there or waited, and then lost
          // the process.
          if (model?.isRetired) model = this.#modelFor(languageCode, mode);
          return model;
        };
        return this.#findPlace(current, owner, payload, found);
      },
      demand: new LiveDemand(model.admission.liveDemand),
      log: this.#options.log,
      onProgress: options.onProgress,
    });
    yield* recognition.results(options.signal);
  }

  #modelFor(languageCode: string, mode: RecognitionMode): ModelProcesses | undefined {
    const model = chooseModel(this.#serving.models, { languageCode, mode }, this.#choice);
    return model && this.#serving.get(model.name);
  }

  /** Of those that are installed the best. */
  #diarizer(): ModelProcesses | undefined {
    return this.#serving.all
      .filter(({ model }) => isDiarizer(model))
      .toSorted((a, b) => b.model.preference - a.model.preference)
      .at(0);
  }

  /** Opens a session where it is heard best; waits for a while when no process is ready. */
  async #findPlace(
    current: () => ModelProcesses | undefined,
    owner: SessionOwner,
    payload: OpenSession,
    { hadPlace, signal }: { readonly hadPlace: boolean; readonly signal: AbortSignal },
  ): Promise<Place> {
    const endsAt = performance.now() + (hadPlace ? readyMsMax.goesOn : readyMsMax.begins);
    const crowdsAt = performance.now() + crowdMsMin;
    for (;;) {
      signal.throwIfAborted();
      const model = current();
      const children = model?.children() ?? [];
      const child = hadPlace
        ? model?.admission.choose(owner.mode, children)
        : model?.admission.admit(owner.mode, children);
      // Nobody moves later: who would crowd a process that is full waits for the one that is being
      // started.
      const waitMs = model?.isIncomplete && !this.#isClosed ? crowdsAt - performance.now() : 0;
      if (child && hadPlace && waitMs > 0 && model?.admission.isCrowded(owner, child)) {
        await this.#someoneReady(waitMs, signal);
        continue;
      }
      if (child) {
        const session = child.open(owner, payload);
        return { session, leave: () => child.leave(session) };
      }
      const leftMs = endsAt - performance.now();
      if (this.#isClosed || !model || leftMs <= 0) {
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

  readonly #wakeWaiters = (): void => {
    for (const wake of this.#readyWaiters) wake();
  };

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    this.#wakeWaiters();
    await this.#serving[Symbol.asyncDispose]();
  }
}

function stateOf(each: ModelProcesses, loading: boolean): ModelState {
  const { name, version, languageCodes } = each.model;
  const children = each.children();
  return {
    name,
    version,
    languageCodes,
    processes: each.processes,
    ready: children.length,
    loading,
    sessions: children.reduce((sum, child) => sum + child.sessions, 0),
    streamsMax: isDiarizer(each.model) ? 0 : each.admission.streamsMax(children),
  };
}

function sessionOptions(options: RecognitionOptions): SessionOptions {
  return {
    languageCode: options.languageCode,
    mode: options.mode,
    sampleRateHertz: options.sampleRateHertz,
    alternativesMax: options.alternativesMax ?? 1,
    interim: options.interim ?? false,
    silenceMsMin: options.silenceMsMin ?? silenceMsDefault,
    ...(options.utteranceMsMax !== undefined && { utteranceMsMax: options.utteranceMsMax }),
    ...(options.hints && { hints: options.hints }),
    punctuation: options.punctuation ?? true,
  };
}
