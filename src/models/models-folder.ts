import { lstat, readdir, readFile, readlink } from "node:fs/promises";
import { join, resolve } from "node:path";
import { codeOf } from "./durable-files.ts";
import { ModelCardError, modelNamePattern, parseModelCard, type ModelCard } from "./model-card.ts";

/** The folders that contain models. */
export interface ModelFolders {
  /** Models that come with the service. */
  readonly builtin: string;
  /** HLUST_MODELS: models that were installed by command or by hand. */
  readonly installed: string;
}

/** A model that can be loaded. */
export interface InstalledModel {
  readonly card: ModelCard;
  /** The real folder of the model, which is different for each version. */
  readonly folder: string;
  /** The total size of the model's files. */
  readonly bytes: number;
  readonly isBuiltin: boolean;
}

/** A folder among the models that cannot be loaded as a model. */
export interface RefusedModel {
  readonly folder: string;
  readonly reason: string;
}

/** The folder of models that come with the service. */
export const builtinModelsFolder = resolve(import.meta.dirname, "../../models");
export const cardFile = "model.json";
const cardBytesMax = 1 << 20;

/**
 * Reads the cards of all models, by name. An installed model replaces a model of the same name that
 * comes with the service. A broken model is refused with the reason, and does not affect the
 * others. Reads are consistent even while models are installed.
 */
export async function readModels({ builtin, installed }: ModelFolders): Promise<{
  readonly models: readonly InstalledModel[];
  readonly refused: readonly RefusedModel[];
}> {
  const models = new Map<string, InstalledModel>();
  const refused: RefusedModel[] = [];
  for (const folder of [builtin, installed]) {
    for (const name of await namesIn(folder)) {
      const found = await readModel(folder, name, folder === builtin);
      if (typeof found === "string") refused.push({ folder: join(folder, name), reason: found });
      else if (found) models.set(name, found);
    }
  }
  const byName = [...models.values()].toSorted((a, b) => (a.card.name < b.card.name ? -1 : 1));
  return { models: byName, refused };
}

/** What a name in the models folder refers to. */
export type ModelPlace =
  | { readonly kind: "free" | "folder" | "file" }
  /** Created by stageModel(). `target` is the name in `.installed`. */
  | { readonly kind: "link"; readonly target: string }
  | { readonly kind: "foreign-link" };

/** Determines what a name refers to, without following links. */
export async function placeOf(modelsFolder: string, name: string): Promise<ModelPlace> {
  const path = join(modelsFolder, name);
  try {
    const found = await lstat(path);
    if (found.isDirectory()) return { kind: "folder" };
    if (!found.isSymbolicLink()) return { kind: "file" };
    const [, target] =
      /^\.installed\/([A-Za-z0-9][A-Za-z0-9._-]*)$/.exec(await readlink(path)) ?? [];
    return target === undefined ? { kind: "foreign-link" } : { kind: "link", target };
  } catch (error) {
    // Replacing a link leaves no gap, so a missing name means that the model was removed.
    if (codeOf(error) === "ENOENT") return { kind: "free" };
    throw error;
  }
}

/** Returns every name that is not hidden; empty if the folder is missing. */
async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    const names = await readdir(folder);
    return names.filter((name) => !name.startsWith("."));
  } catch (error) {
    if (codeOf(error) === "ENOENT") return [];
    throw error;
  }
}

/**
 * Reads a model, or returns the reason why it cannot be used. Returns undefined for a file, or for
 * a model that has been removed in the meantime.
 */
async function readModel(
  modelsFolder: string,
  name: string,
  isBuiltin: boolean,
): Promise<InstalledModel | string | undefined> {
  for (;;) {
    const place = await placeOf(modelsFolder, name);
    if (place.kind === "free" || place.kind === "file") return undefined;
    if (place.kind === "foreign-link") {
      return "is a link that leads elsewhere: put the model's folder here, or use `hlust models add`";
    }
    const folder = join(modelsFolder, place.kind === "link" ? `.installed/${place.target}` : name);
    try {
      return { ...(await readCard(folder, name)), folder, isBuiltin };
    } catch (error) {
      const now = await placeOf(modelsFolder, name);
      // Another version was installed while this model was being read.
      if (JSON.stringify(now) !== JSON.stringify(place)) continue;
      if (error instanceof ModelCardError || codeOf(error) !== undefined) return reasonOf(error);
      throw error;
    }
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/**
 * Reads the model.json of a folder, and checks the sizes of its files. Throws ModelCardError.
 */
async function readCard(folder: string, name: string): Promise<{ card: ModelCard; bytes: number }> {
  const card = parseNamedCard(await readCardText(folder), name);
  const sizes = new Map<string, number>();
  const problems: string[] = [];
  for (const { path, bytes } of Object.values(card.files)) {
    const size = await sizeWithoutLinks(folder, path);
    if (size === undefined) problems.push(`${path} is not a file in its folder`);
    else if (bytes !== undefined && size !== bytes) {
      problems.push(`${path} has ${size} bytes, but ${cardFile} says ${bytes}`);
    }
    sizes.set(path, size ?? 0);
  }
  if (problems.length > 0) throw new ModelCardError(problems.join("; "));
  return { card, bytes: sizes.values().reduce((sum, size) => sum + size, 0) };
}

/** Returns the text of the model.json in a folder. */
export async function readCardText(folder: string): Promise<string> {
  const size = await sizeWithoutLinks(folder, cardFile);
  if (size === undefined) throw new ModelCardError(`there is no file ${cardFile}`);
  if (size > cardBytesMax) throw new ModelCardError(`${cardFile} has more than 1 MiB`);
  return await readFile(join(folder, cardFile), "utf8");
}

/** Parses a card. Throws ModelCardError, which names the file. */
export function parseNamedCard(text: string, name?: string): ModelCard {
  try {
    const card = parseModelCard(text);
    if (name !== undefined && card.name !== name) {
      throw new ModelCardError(
        `the name in the card is ${JSON.stringify(card.name)}, but the folder is ${JSON.stringify(name)}`,
      );
    }
    return card;
  } catch (error) {
    if (!(error instanceof ModelCardError)) throw error;
    throw new ModelCardError(`${cardFile}: ${error.message}`);
  }
}

/**
 * Returns the size of a file below a folder in bytes. Returns undefined for anything else, and for
 * a path that contains a link.
 */
async function sizeWithoutLinks(folder: string, path: string): Promise<number | undefined> {
  const parts = path.split("/");
  for (const at of parts.keys()) {
    const isLast = at === parts.length - 1;
    const found = await lstat(join(folder, ...parts.slice(0, at + 1))).catch(ignoreMissing);
    if (isLast ? !found?.isFile() : !found?.isDirectory()) return undefined;
    if (isLast) return found?.size;
  }
  return undefined;
}

function ignoreMissing(error: unknown): undefined {
  const code = codeOf(error);
  if (code === "ENOENT" || code === "ENOTDIR") return undefined;
  throw error;
}

/** Returns whether a model may have this name. */
export function isModelName(name: string): boolean {
  return modelNamePattern.test(name);
}
