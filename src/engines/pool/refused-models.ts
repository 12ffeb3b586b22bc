import { basename } from "node:path";
import type { Log } from "../../std/log.ts";
import type { FoundModels, LoadableModel } from "./loadable-models.ts";

/** A model that is installed but does not serve. */
export interface RefusedState {
  readonly name: string;
  /**
   * UNUSABLE: the model's model.json or another of its files is wrong. NOT_LOADED: no process could
   * load the model. The log has the details.
   */
  readonly reason: "UNUSABLE" | "NOT_LOADED";
}

/**
 * The installed models that do not serve, by identity. Each is logged once, and not tried again
 * until it changes.
 */
export class RefusedModels {
  readonly #log: Log;
  readonly #states = new Map<string, RefusedState>();

  constructor(log: Log) {
    this.#log = log;
  }

  /** The refused models, sorted by name. */
  get all(): readonly RefusedState[] {
    return [...this.#states.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1));
  }

  has({ identity }: LoadableModel): boolean {
    return this.#states.has(identity);
  }

  /** Refuses the folders whose files are wrong. Returns the reasons that are new. */
  addUnusable(refused: FoundModels["refused"]): readonly Error[] {
    return refused.flatMap((each) => {
      const identity = identityOf(each);
      if (this.#states.has(identity)) return [];
      const { folder, reason } = each;
      const model = basename(folder);
      this.#states.set(identity, { name: model, reason: "UNUSABLE" });
      this.#log.error({ model, folder, reason }, "model.refused");
      return [new Error(`${model}: ${reason}`)];
    });
  }

  /** Refuses a model that could not be loaded. */
  addNotLoaded({ identity, name, version }: LoadableModel, error: unknown): void {
    this.#states.set(identity, { name, reason: "NOT_LOADED" });
    const reason = error instanceof Error ? error.message : String(error);
    this.#log.error({ model: name, version, reason }, "model.refused");
  }

  /** Forgets models that were removed or have changed, so that they are tried and logged again. */
  keepOnly({ models, refused }: FoundModels): void {
    const there = new Set([...models.map(({ identity }) => identity), ...refused.map(identityOf)]);
    for (const identity of this.#states.keys())
      if (!there.has(identity)) this.#states.delete(identity);
  }
}

function identityOf({ folder, reason }: FoundModels["refused"][number]): string {
  return JSON.stringify([folder, reason]);
}
