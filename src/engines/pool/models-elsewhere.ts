import type { LoadReport } from "../protocol/load-report.ts";
import type { EngineChild } from "./engine-child.ts";
import type { LoadableModel } from "./loadable-models.ts";
import type { ModelProcesses } from "./model-processes.ts";

/**
 * How long a model that no engine node has any more is kept, after the models of all
 * nodes are known. Until then its calls wait, instead of being refused for an unknown language.
 */
const absentMsMax = 60_000;

interface ModelsElsewhereOptions {
  /** Creates the processes of a model that this node does not have. */
  readonly create: (model: LoadableModel) => ModelProcesses;
  /** Returns the model with this name that is loaded on this node. */
  readonly ownModel: (name: string) => ModelProcesses | undefined;
}

/** The models of engine nodes, by name and version. */
export class ModelsElsewhere {
  readonly #options: ModelsElsewhereOptions;
  readonly #models = new Map<string, Map<string, ModelProcesses>>();
  readonly #serving = new Map<string, ModelProcesses>();
  readonly #absentSince = new Map<ModelProcesses, number>();

  constructor(options: ModelsElsewhereOptions) {
    this.#options = options;
  }

  /** The models that serve and that this node does not have itself. */
  get serving(): readonly ModelProcesses[] {
    return [...this.#serving.values()];
  }

  /** Adds a process of an engine node, until it ends. */
  add(child: EngineChild, model: LoadableModel): void {
    const { name, version } = model;
    const versions = this.#models.get(name) ?? new Map<string, ModelProcesses>();
    this.#models.set(name, versions);
    const own = versions.get(version) ?? this.#options.create(model);
    versions.set(version, own);
    own.attach(child);
    void child.exited.then(() => this.settle(name));
    this.settle(name);
  }

  /** Learns from a report of a process that was added with this model. */
  learn(child: EngineChild, { name, version }: LoadableModel, report: LoadReport): void {
    this.#models.get(name)?.get(version)?.admission.of(child).learn(report);
    const own = this.#options.ownModel(name);
    if (own?.model.version === version) own.admission.of(child).learn(report);
  }

  /** Returns whether a process with this model may move its sessions to another process. */
  hasOther({ name }: LoadableModel): boolean {
    const model = this.#options.ownModel(name) ?? this.#serving.get(name);
    return model?.children().some(({ isLeaving }) => !isLeaving) ?? false;
  }

  /**
   * Chooses what serves a name: the model of this node, to which processes of the same version are
   * added, or else the newest version that has processes, those that can recognize first.
   */
  settle(name: string): void {
    const versions = this.#models.get(name);
    if (!versions) return;
    const own = this.#options.ownModel(name);
    const same = own && versions.get(own.model.version);
    for (const child of same?.running() ?? []) own?.attach(child);
    const sorted = [...versions.values()].toSorted((a, b) =>
      compareVersions(b.model.version, a.model.version),
    );
    const newest =
      sorted.find((each) => each.children().length > 0) ??
      sorted.find((each) => each.running().length > 0);
    const chosen = own ? undefined : (newest ?? this.#serving.get(name));
    if (chosen) this.#serving.set(name, chosen);
    else this.#serving.delete(name);
    for (const each of versions.values()) {
      if (each.isRetired === (each === chosen)) each.setServing(each === chosen);
    }
  }

  /**
   * Forgets models without processes. `areAllKnown`: whether the models of all nodes are known. A
   * hosted model whose server is absent has its process, and is kept.
   */
  forgetAbsent(areAllKnown: boolean, now = performance.now()): void {
    for (const [name, versions] of this.#models) {
      for (const [version, model] of versions) {
        if (!areAllKnown || model.running().length > 0) {
          this.#absentSince.delete(model);
          continue;
        }
        const since = this.#absentSince.get(model) ?? now;
        this.#absentSince.set(model, since);
        if (now - since < absentMsMax) continue;
        versions.delete(version);
        this.#absentSince.delete(model);
        if (this.#serving.get(name) === model) this.#serving.delete(name);
        model.setServing(false);
      }
      if (versions.size === 0) this.#models.delete(name);
      else this.settle(name);
    }
  }
}

function compareVersions(a: string, b: string): number {
  return a.localeCompare(b, "en", { numeric: true });
}
