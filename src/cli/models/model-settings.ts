import { readConfig } from "../../config.ts";
import { builtinCatalogue } from "../../models/catalogue.ts";
import { builtinModelsFolder, type ModelFolders } from "../../models/models-folder.ts";

/** Returns the folders of models, the file of the catalogue, and the keys of hosted models. */
export function modelSettings(environment: NodeJS.ProcessEnv): {
  readonly folders: ModelFolders;
  readonly catalogueFile: string;
  /** The keys for the servers of hosted models, by the names of their variables. */
  readonly modelKeys: Readonly<Record<string, string>>;
} {
  const { modelsFolder, catalogueFile, modelKeys } = readConfig(environment);
  return {
    folders: { builtin: builtinModelsFolder, installed: modelsFolder },
    catalogueFile: catalogueFile ?? builtinCatalogue,
    modelKeys,
  };
}
