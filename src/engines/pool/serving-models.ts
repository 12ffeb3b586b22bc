import { availableParallelism } from "node:os";
import type { EngineRecorder } from "../../metrics/recorders.ts";
import { errorFields, type Log } from "../../std/log.ts";
import type { ModelChoice } from "../../models/model-choice.ts";
import type { Effort, RecognitionMode } from "../protocol/engine.ts";
import type { OnnxOptions } from "../../models/onnx-options.ts";
import { chooseModel, servedLanguages, unmetChoices } from "./choose-model.ts";
import { findModels, type LoadableModel } from "./loadable-models.ts";
import type { EngineChild } from "./engine-child.ts";
import { type Machine, thisMachine } from "./machine.ts";
import { ModelProcesses, type ProcessShare } from "./model-processes.ts";
import { ModelsElsewhere } from "./models-elsewhere.ts";
import type { ReadySignal } from "./ready-signal.ts";
import { RefusedModels, type RefusedState } from "./refused-models.ts";
import { builtinModelsFolder } from "../../models/models-folder.ts";

export interface ServingModelsOptions {
  /** auto: all installed models. */
  readonly engine: "auto" | "pocketsphinx" | "scripted";
  /** With auto: only the model with this name. */
  readonly only?: string;
  /** The models to use instead of the best ones. */
  readonly choice?: ModelChoice;
  /** The maximum number of processes of each model. */
  readonly processes: number;
  /** Whether this node loads models itself. Default: true. */
  readonly hasOwnModels?: boolean;
  /** Shares the processes of this node with other nodes. Default: they are not shared. */
  readonly share?: ProcessShare | undefined;
  /** The folder in which models are installed, even while the service runs. Default: none. */
  readonly modelsFolder?: string;
  /** How speech is found, except by the scripted engine. Default: network. */
  readonly voiceActivity?: "network" | "energy";
  /** How the networks of the ctc engine run. Default: on the processor. */
  readonly onnx?: OnnxOptions;
  /** The effort of live streams that name none. Default: auto, by the load. */
  readonly liveEffort?: Effort | "auto";
  /** The keys for the servers of hosted models, by the names of their variables. */
  readonly modelKeys?: Readonly<Record<string, string>>;
  readonly log: Log;
  /** Records what the engines do, for the metrics of the node. */
  readonly recorder?: EngineRecorder | undefined;
  /**
   * The maximum time without progress of a process that has audio; after it the process is
   * replaced. Default: 10 s.
   */
  readonly stuckMsMax?: number;
}

const stuckMsMaxDefault = 10_000;
/** The interval at which the models folder is checked for changes. */
const checkMs = 2000;

/**
 * The models that serve, each with its processes, kept in step with the installed models. Disposing
 * of the object ends all processes.
 */
export class ServingModels implements AsyncDisposable {
  readonly #options: ServingModelsOptions;
  /** Notified when a process becomes ready, or a model stops serving. */
  readonly #ready: ReadySignal;
  /** The models that serve, by name. */
  readonly #serving = new Map<string, ModelProcesses>();
  /** The models with processes, including models that are being loaded or retired. */
  readonly #alive = new Set<ModelProcesses>();
  readonly #refused: RefusedModels;
  /** The choices that were not met at the last look, as sentences. */
  #unmet: ReadonlySet<string> = new Set();
  /** The models that were found at the start, once they serve. */
  #atStart: ReadonlySet<ModelProcesses> = new Set();
  #checkTimer: NodeJS.Timeout | undefined;
  #checking: Promise<void> | undefined;
  #isClosed = false;
  readonly #machine: Machine;
  readonly elsewhere: ModelsElsewhere;
  /** The other machines with engine processes. */
  readonly #otherMachines = new Set<Machine>();

  constructor(options: ServingModelsOptions, ready: ReadySignal) {
    this.#options = options;
    this.#ready = ready;
    this.#refused = new RefusedModels(options.log);
    this.#machine = thisMachine(() => this.#ownProcesses());
    this.elsewhere = new ModelsElsewhere({
      ownModel: (name) => this.#serving.get(name),
      create: (model) => this.#processesOf(model),
    });
  }

  /** Returns this machine and those of engine nodes. */
  machines(): readonly Machine[] {
    return [this.#machine, ...this.#otherMachines];
  }

  addMachine(machine: Machine): void {
    this.#otherMachines.add(machine);
  }

  /** Lets sessions that wait for a process look for one again. */
  lookAgain(): void {
    this.#ready.notify();
  }

  removeMachine(machine: Machine): void {
    this.#otherMachines.delete(machine);
  }

  /** The choice may change while the models serve. */
  get #choice(): ModelChoice {
    return this.#options.choice ?? [];
  }

  get all(): readonly ModelProcesses[] {
    const elsewhere = this.elsewhere.serving;
    return elsewhere.length > 0
      ? [...this.#serving.values(), ...elsewhere]
      : [...this.#serving.values()];
  }

  get models(): readonly LoadableModel[] {
    return this.all.map(({ model }) => model);
  }

  #named(name: string | undefined): ModelProcesses | undefined {
    return this.all.find(({ model }) => model.name === name);
  }

  /** Returns the model that serves a language in this mode; with `model`, the one of this name. */
  modelFor(use: {
    readonly languageCode: string;
    readonly mode: RecognitionMode;
    readonly model?: string | undefined;
  }): ModelProcesses | undefined {
    if (use.model !== undefined) {
      const named = this.#named(use.model);
      const { languageCodes = [], uses = [] } = named?.model ?? {};
      return languageCodes.includes(use.languageCode) && uses.includes(use.mode)
        ? named
        : undefined;
    }
    // A job waits for its model. Others get another model of the language while theirs is absent.
    const present = this.all.filter(({ absence }) => use.mode === "job" || absence === undefined);
    const model =
      chooseModel(
        present.map((each) => each.model),
        use,
        this.#choice,
      ) ?? chooseModel(this.models, use, this.#choice);
    return this.#named(model?.name);
  }

  /**
   * Returns the model that aligns words of a language: the one that recognizes its recordings if it
   * can, otherwise the best other one.
   */
  alignerFor(languageCode: string): ModelProcesses | undefined {
    const able = this.all.filter(({ engine }) => engine?.alignsWords);
    const models = able.map(({ model }) => ({ ...model, uses: ["job" as const] }));
    const chosen = chooseModel(models, { languageCode, mode: "job" }, this.#choice);
    return this.#named(chosen?.name);
  }

  languageCodes(mode: RecognitionMode): readonly string[] {
    return servedLanguages(this.models, mode, this.#choice);
  }

  /** Returns the best diarization model. */
  diarizer(): ModelProcesses | undefined {
    return this.all
      .filter(({ model }) => isDiarizer(model))
      .toSorted((a, b) => b.model.preference - a.model.preference)
      .at(0);
  }

  /**
   * Logs the operator's choices that no installed model meets, each once, and again after it was
   * met. The choice and the models may have changed since the last call.
   */
  reportUnmetChoices(): void {
    const problems = new Set(unmetChoices(this.models, this.#choice));
    for (const problem of problems.difference(this.#unmet)) {
      this.#options.log.warn({ problem }, "model.choice_unmet");
    }
    this.#unmet = problems;
  }

  /** The models that could not be loaded, sorted by name. */
  get refused(): readonly RefusedState[] {
    return this.#refused.all;
  }

  /**
   * Returns whether a model was found at the start and its processes are still being loaded for the
   * first time.
   */
  isLoading(each: ModelProcesses): boolean {
    return this.#atStart.has(each) && each.isLoading;
  }

  /**
   * Returns the processes of all models on this machine, including models that are being retired,
   * since all of them share it.
   */
  #ownProcesses(): readonly EngineChild[] {
    return Array.from(this.#alive, (each) => each.ownChildren()).flat();
  }

  /**
   * Loads the installed models; a model that cannot be loaded is logged as refused. Throws an Error
   * with the reason if no model can be loaded.
   */
  async open(): Promise<void> {
    if (this.#options.hasOwnModels === false) return;
    const failures = await this.#check();
    if (this.#serving.size === 0) throw failures[0] ?? new Error("no model is installed");
    this.#atStart = new Set(this.#serving.values());
  }

  /**
   * Starts watching the folder and the choice: models that are then installed, replaced or removed
   * take effect within seconds.
   */
  watch(): void {
    if (this.#options.hasOwnModels === false) return;
    if (this.#options.engine === "auto") this.#checkLater();
  }

  #checkLater(): void {
    if (this.#isClosed) return;
    this.#checkTimer = setTimeout(() => {
      this.#checking = this.#check()
        .then(() => this.reportUnmetChoices())
        .catch((error: unknown) => {
          this.#options.log.error(errorFields(error), "models.look_failed");
        })
        .finally(() => this.#checkLater());
    }, checkMs);
  }

  /**
   * Loads and retires models according to changes in the folder. Returns the reasons why models
   * could not be loaded.
   */
  async #check(): Promise<readonly unknown[]> {
    const { engine, only, modelsFolder = builtinModelsFolder } = this.#options;
    const found = await findModels(engine, modelsFolder, only);
    if (this.#isClosed) return [];
    const failures = this.#refused.addUnusable(found.refused);
    const changed = found.models.filter(
      (model) =>
        this.#serving.get(model.name)?.model.identity !== model.identity &&
        !this.#refused.has(model),
    );
    const opened = await this.#loadAll(changed);
    this.#refused.keepOnly(found);
    const names = new Set(found.models.map(({ name }) => name));
    for (const each of this.#serving.values()) {
      if (names.has(each.model.name)) continue;
      this.#serving.delete(each.model.name);
      this.#retire(each);
    }
    return [...failures, ...opened.filter((failure) => failure !== undefined)];
  }

  /**
   * Loads at most one model per core concurrently, since loading takes more memory than a loaded
   * model.
   */
  async #loadAll(models: readonly LoadableModel[]): Promise<readonly unknown[]> {
    const waiting = [...models];
    const failures: unknown[] = [];
    const work = async (): Promise<void> => {
      for (let model = waiting.shift(); model; model = waiting.shift()) {
        failures.push(await this.#load(model));
      }
    };
    await Promise.all(Array.from({ length: availableParallelism() }, work));
    return failures;
  }

  /**
   * Loads a model, which then replaces the model with the same name. Returns the reason if it
   * cannot be loaded.
   */
  async #load(model: LoadableModel): Promise<unknown> {
    if (this.#isClosed) return undefined;
    const { log } = this.#options;
    const { name, version } = model;
    const loading = this.#processesOf(model);
    this.#alive.add(loading);
    try {
      await loading.open();
    } catch (error) {
      this.#alive.delete(loading);
      if (!this.#isClosed) this.#refused.addNotLoaded(model, error);
      return error;
    }
    if (this.#isClosed) return undefined;
    const old = this.#serving.get(name);
    this.#serving.set(name, loading);
    if (old) this.#retire(old);
    this.elsewhere.settle(name);
    log.info({ model: name, version, languageCodes: model.languageCodes }, "model.loaded");
    return undefined;
  }

  #processesOf(model: LoadableModel): ModelProcesses {
    const { engine, processes, voiceActivity = "network", onnx, log, recorder } = this.#options;
    const { stuckMsMax = stuckMsMaxDefault, share, modelKeys } = this.#options;
    return new ModelProcesses({
      model,
      voiceActivity: voiceActivity === "network" && engine !== "scripted" ? "network" : undefined,
      onnx,
      // The windows of a recording are diarized one after the other, and a process that only waits
      // for a server has room for all sessions.
      processes: isDiarizer(model) || model.isHosted === true ? 1 : processes,
      // The service starts once each model has one process.
      waitsFor: engine === "auto" ? 1 : processes,
      modelKeys,
      log,
      recorder,
      stuckMsMax,
      ready: this.#ready,
      machine: this.#machine,
      share,
    });
  }

  #retire(model: ModelProcesses): void {
    const { name, version } = model.model;
    this.#options.log.info({ model: name, version }, "model.retired");
    const retiring = model.retire();
    this.elsewhere.settle(name);
    // Sessions that wait for a process of this model choose another one.
    this.#ready.notify();
    void retiring.then(() => this.#alive.delete(model));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#checkTimer);
    await Promise.all(Array.from(this.#alive, (model) => model[Symbol.asyncDispose]()));
    await this.#checking;
  }
}

export function isDiarizer({ source }: LoadableModel): boolean {
  return source.engine === "elsewhere" ? source.diarizes : source.engine === "diarizer";
}
