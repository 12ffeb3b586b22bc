import { recognizeSample } from "../../engines/pool/recognize-sample.ts";
import { tryModel } from "../../engines/pool/try-model.ts";
import { modelSettings } from "./model-settings.ts";
import type { ModelTools } from "./model-tools.ts";

/** Returns tools that load models in separate processes and run them on recordings. */
export function engineTools(environment: NodeJS.ProcessEnv): ModelTools {
  return {
    verify: tryModel,
    recognize: async (model, wavFile) => {
      const modelsFolder = modelSettings(environment).folders.installed;
      return await recognizeSample(model, { modelsFolder, wavFile });
    },
  };
}
