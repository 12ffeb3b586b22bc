import { recognizeSample } from "../../engines/pool/recognize-sample.ts";
import { tryModel } from "../../engines/pool/try-model.ts";
import { modelSettings } from "./model-settings.ts";
import type { ModelTools } from "./model-tools.ts";

/** Returns tools that load models in separate processes and run them on recordings. */
export function engineTools(environment: NodeJS.ProcessEnv): ModelTools {
  return {
    verify: async (folder) => await tryModel(folder, modelSettings(environment).modelKeys),
    recognize: async (model, wavFile) => {
      const { folders, modelKeys } = modelSettings(environment);
      const modelsFolder = folders.installed;
      return await recognizeSample(model, { modelsFolder, modelKeys, wavFile });
    },
  };
}
