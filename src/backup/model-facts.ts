import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { builtinModelsFolder, cardFile, readModels } from "../models/models-folder.ts";
import type { ModelFacts } from "./backup-format.ts";

/** Returns what a backup records of the installed models, which it does not contain. */
export async function modelFacts(modelsFolder: string): Promise<readonly ModelFacts[]> {
  const { models } = await readModels({ builtin: builtinModelsFolder, installed: modelsFolder });
  const installed = models.filter(({ isBuiltin }) => !isBuiltin);
  return await Promise.all(
    installed.map(async ({ card: { name, version }, folder }) => {
      const card = await readFile(join(folder, cardFile));
      return { name, version, sha256: createHash("sha256").update(card).digest("hex") };
    }),
  );
}
