import { stat } from "node:fs/promises";
import { basename, join } from "node:path";
import type { RecognitionMode } from "../protocol/engine.ts";
import type { DiarizerSource, EngineSource } from "../protocol/engine-source.ts";
import {
  builtinModelsFolder,
  type InstalledModel,
  readModels,
  type RefusedModel,
} from "../../models/models-folder.ts";

/** A model that only engine nodes have. */
export interface ElsewhereSource {
  readonly engine: "elsewhere";
  readonly diarizes: boolean;
}

/** A model with which engine processes can be started, here or on engine nodes. */
export interface LoadableModel {
  readonly name: string;
  readonly version: string;
  readonly languageCodes: readonly string[];
  readonly uses: readonly RecognitionMode[];
  /** The model with the highest preference serves a language unless another model is chosen. */
  readonly preference: number;
  readonly source: EngineSource | DiarizerSource | ElsewhereSource;
  /** Whether a server elsewhere does the work of the model. */
  readonly isHosted?: boolean;
  /** The total size of the model's files. */
  readonly bytes: number;
  /** A value that changes when any file of the model changes. */
  readonly identity: string;
}

const pocketsphinx: LoadableModel = {
  name: "pocketsphinx-en-US",
  version: "0.8",
  languageCodes: ["en-US"],
  uses: ["live", "short", "job"],
  preference: 1,
  source: { engine: "pocketsphinx" },
  bytes: 40 << 20,
  identity: "pocketsphinx",
};

const scripted: LoadableModel = {
  name: "scripted",
  version: "1",
  languageCodes: ["en-US", "is-IS"],
  uses: ["live", "short", "job"],
  preference: 0,
  source: { engine: "scripted" },
  bytes: 0,
  identity: "scripted",
};

export interface FoundModels {
  readonly models: readonly LoadableModel[];
  /** The folders whose model.json cannot be used. */
  readonly refused: readonly RefusedModel[];
}

/**
 * Finds the models of an engine. For auto, these are all models that come with the service and
 * those in the folder of installed models; with `only`, just the model of that name.
 */
export async function findModels(
  engine: "auto" | "pocketsphinx" | "scripted",
  modelsFolder: string,
  only?: string,
): Promise<FoundModels> {
  if (engine === "pocketsphinx") return { models: [pocketsphinx], refused: [] };
  if (engine === "scripted") return { models: [scripted], refused: [] };
  const folders = { builtin: builtinModelsFolder, installed: modelsFolder };
  const { models, refused } = await readModels(folders);
  const installed = await Promise.all(models.map(loadable));
  const all = [pocketsphinx, ...installed];
  if (only === undefined) return { models: all, refused };
  return {
    models: all.filter(({ name }) => name === only),
    refused: refused.filter(({ folder }) => basename(folder) === only),
  };
}

async function loadable({ card, folder }: InstalledModel): Promise<LoadableModel> {
  const { name, version, languageCodes, uses, preference } = card;
  const files = await Promise.all(
    [
      ...["model.json", ...Object.values(card.files).map(({ path }) => path)].map((path) =>
        join(folder, path),
      ),
      ...[card.server?.keyFile, card.server?.authorityFile].filter((path) => path !== undefined),
    ].map((path) => stat(path).catch(() => undefined)),
  );
  const keyVariable = card.server?.keyVariable;
  const state = files.map((file) => [file?.size, file?.mtimeMs, file?.ino]);
  return {
    name,
    version,
    languageCodes,
    uses,
    preference,
    source:
      card.kind === "diarization"
        ? { engine: "diarizer", folder }
        : { engine: "model", folder, ...(keyVariable !== undefined && { keyVariable }) },
    ...(card.server && { isHosted: true }),
    bytes: files.reduce((sum, file) => sum + (file?.size ?? 0), 0),
    identity: JSON.stringify([folder, state]),
  };
}
