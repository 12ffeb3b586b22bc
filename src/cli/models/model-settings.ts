import { readConfig } from "../../config.ts";
import { builtinCatalogue } from "../../models/catalogue.ts";
import { builtinModelsFolder, type ModelFolders } from "../../models/models-folder.ts";

/** Where models lie, and the file that says which there are elsewhere. */
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
