import { readConfig } from "../../config.ts";
import { builtinCatalogue } from "../../models/catalogue.ts";
import { builtinModelsFolder, type ModelFolders } from "../../models/models-folder.ts";

/** Returns the folders of models, and the file of the catalogue. */
export function modelSettings(environment: NodeJS.ProcessEnv): {
  readonly folders: ModelFolders;
  readonly catalogueFile: string;
} {
  const { modelsFolder, catalogueFile } = readConfig(environment);
  return {
    folders: { builtin: builtinModelsFolder, installed: modelsFolder },
    catalogueFile: catalogueFile ?? builtinCatalogue,
  };
}
