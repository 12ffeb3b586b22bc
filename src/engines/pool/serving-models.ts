import { availableParallelism } from "node:os";
import { basename } from "node:path";
import { errorFields, type Log } from "../../std/log.ts";
import type { LoadedProcess } from "./admission.ts";
import { findModels, type FoundModels, type LoadableModel } from "./loadable-models.ts";
import { ModelProcesses } from "./model-processes.ts";
import { builtinModelsFolder } from "../../models/models-folder.ts";

export interface ServingModelsOptions {
  /** auto: all models that are installed. */
  readonly engine: "auto" | "pocketsphinx" | "scripted";
  /** Of auto this model alone, by its name. */
  readonly only?: string;
  /** Of each model, at most. */
  readonly processes: number;
  /** Where models are installed, also while the service runs. Default: nowhere. */
  readonly modelsFolder?: string;
  readonly log: Log;
  /** A process that has audio and makes no progress for this long is replaced. Default 10 s. */
  readonly stuckMsMax?: number;
}

/** A model that is installed and does not serve. */
export interface RefusedState {
  readonly name: string;
  /**
   * UNUSABLE: its model.json or a file of it is not what it should be. NOT_LOADED: no process could
   * load it. The log says more.
   */
  readonly reason: "UNUSABLE" | "NOT_LOADED";
}

const stuckMsMaxDefault = 10_000;
/** The models folder is looked at so often. */
const lookMs = 2000;

/**
 * The models that serve, each with its processes, in line with what is installed. Disposing of it
 * ends all processes.
 */
export class ServingModels implements AsyncDisposable {
  readonly #options: ServingModelsOptions;
  /** Called when a process can be used, or a model does not serve any more. */
  readonly #onChange: () => void;
  /** By name. */
  readonly #serving = new Map<string, ModelProcesses>();
  /** Those with processes: also such as are being opened, or end with their last session. */
  readonly #alive = new Set<ModelProcesses>();
  /** What could not be loaded, by identity: it is not tried again before it has changed. */
  readonly #refused = new Map<string, RefusedState>();
  /** Those that were found at the start, once they serve. */
  #atStart: ReadonlySet<ModelProcesses> = new Set();
  #lookTimer: NodeJS.Timeout | undefined;
  #looking: Promise<void> | undefined;
  #isClosed = false;

  constructor(options: ServingModelsOptions, onChange: () => void) {
    this.#options = options;
    this.#onChange = onChange;
  }

  get all(): readonly ModelProcesses[] {
    return [...this.#serving.values()];
  }

  get models(): readonly LoadableModel[] {
    return Array.from(this.#serving.values(), ({ model }) => model);
  }

  get(name: string): ModelProcesses | undefined {
    return this.#serving.get(name);
  }

  /** Those that could not be loaded, by name. */
  get refused(): readonly RefusedState[] {
    return [...this.#refused.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1));
  }

  /**
   * Whether a model was found at the start, and its processes are still being loaded for the first
   * time.
   */
  isLoading(each: ModelProcesses): boolean {
    return this.#atStart.has(each) && each.isLoading;
  }

  /**
   * The processes of all models, also of those that only end what they have begun: they share the
   * machine.
   */
  readonly everyone = (): readonly LoadedProcess[] =>
    Array.from(this.#alive, (each) => each.children()).flat();

  /**
   * Loads what is installed; a model that cannot be loaded is logged as refused. Throws an Error
   * that says why when there is none.
   */
  async open(): Promise<void> {
    const failures = await this.#look();
    if (this.#serving.size === 0) throw failures[0] ?? new Error("no model is installed");
    this.#atStart = new Set(this.#serving.values());
  }

  /** From now on, what is installed, replaced or removed counts within seconds. */
  watch(): void {
    if (this.#options.engine === "auto") this.#lookLater();
  }

  #lookLater(): void {
    if (this.#isClosed) return;
    this.#lookTimer = setTimeout(() => {
      this.#looking = this.#look()
        .then(() => {})
        .catch((error: unknown) => {
          this.#options.log.error(errorFields(error), "models.look_failed");
        })
        .finally(() => this.#lookLater());
    }, lookMs);
  }

  /** Brings what serves in line with what is installed. Returns why models could not be loaded. */
  async #look(): Promise<readonly unknown[]> {
    const { engine, only, modelsFolder = builtinModelsFolder } = this.#options;
    const found = await findModels(engine, modelsFolder, only);
    if (this.#isClosed) return [];
    const failures = this.#refuseBroken(found);
    const changed = found.models.filter(
      ({ name, identity }) =>
        this.#serving.get(name)?.model.identity !== identity && !this.#refused.has(identity),
    );
    const opened = await this.#loadAll(changed);
    this.#forgetRefused(found);
    const names = new Set(found.models.map(({ name }) => name));
    for (const each of this.#serving.values()) {
      if (names.has(each.model.name)) continue;
      this.#serving.delete(each.model.name);
      this.#retire(each);
    }
    return [...failures, ...opened.filter((failure) => failure !== undefined)];
  }

  #refuseBroken({ refused }: FoundModels): readonly Error[] {
    return refused.flatMap(({ folder, reason }) => {
      const identity = identityOfRefused({ folder, reason });
      if (this.#refused.has(identity)) return [];
      const model = basename(folder);
      this.#refused.set(identity, { name: model, reason: "UNUSABLE" });
      this.#options.log.error({ model, folder, reason }, "model.refused");
      return [new Error(`${model}: ${reason}`)];
    });
  }

  /** What is no longer there as it was refused may come again, and is tried and told again. */
  #forgetRefused({ models, refused }: FoundModels): void {
    const there = new Set([
      ...models.map(({ identity }) => identity),
      ...refused.map(identityOfRefused),
    ]);
    for (const identity of this.#refused.keys())
      if (!there.has(identity)) this.#refused.delete(identity);
  }

  /** As many at a time as there are cores: loading takes memory besides what the model keeps. */
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

  /** Loads a model, which then takes the place of the one of its name. Returns why it could not. */
  async #load(model: LoadableModel): Promise<unknown> {
    if (this.#isClosed) return undefined;
    const { engine, processes, log, stuckMsMax = stuckMsMaxDefault } = this.#options;
    const { name, version } = model;
    const loading = new ModelProcesses({
      model,
      // Windows of a recording are heard one after the other.
      processes: isDiarizer(model) ? 1 : processes,
      // With several models the start would take as many times as long.
      waitsFor: engine === "auto" ? 1 : processes,
      log,
      stuckMsMax,
      onChange: this.#onChange,
      everyone: this.everyone,
    });
    this.#alive.add(loading);
    try {
      await loading.open();
    } catch (error) {
      this.#alive.delete(loading);
      this.#refused.set(model.identity, { name, reason: "NOT_LOADED" });
      if (!this.#isClosed) {
        const reason = error instanceof Error ? error.message : String(error);
        log.error({ model: name, version, reason }, "model.refused");
      }
      return error;
    }
    if (this.#isClosed) return undefined;
    const old = this.#serving.get(name);
    this.#serving.set(name, loading);
    if (old) this.#retire(old);
    log.info({ model: name, version, languageCodes: model.languageCodes }, "model.loaded");
    return undefined;
  }

  #retire(model: ModelProcesses): void {
    const { name, version } = model.model;
    this.#options.log.info({ model: name, version }, "model.retired");
    const retiring = model.retire();
    // Who waits for one of its processes waits for nothing now.
    this.#onChange();
    void retiring.then(() => this.#alive.delete(model));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#lookTimer);
    await Promise.all(Array.from(this.#alive, (model) => model[Symbol.asyncDispose]()));
    await this.#looking;
  }
}

function identityOfRefused({ folder, reason }: FoundModels["refused"][number]): string {
  return JSON.stringify([folder, reason]);
}

export function isDiarizer({ source }: LoadableModel): boolean {
  return source.engine === "diarizer";
}
