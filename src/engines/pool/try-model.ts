import { createLog } from "../../std/log.ts";
import { ServiceError } from "../../std/service-error.ts";
import { openEngineChild } from "./open-engine-child.ts";
import { thisMachine } from "./machine.ts";
import { parseNamedCard, readCardText } from "../../models/models-folder.ts";

const stuckMsMax = 60_000;

/**
 * Loads the model in a folder in a separate process, which decodes some audio and ends. If that
 * fails, throws ServiceError with the reason, even if the library crashes the process. Returns the
 * CPU seconds for a second of live speech; undefined for a model that does not recognize words, and
 * for a hosted one, whose server has to recognize now. `modelKeys`: as in ServingModelsOptions.
 */
export async function tryModel(
  folder: string,
  modelKeys: Readonly<Record<string, string>> = {},
): Promise<number | undefined> {
  const card = parseNamedCard(await readCardText(folder));
  const isDiarizer = card.kind === "diarization";
  const keyVariable = card.server?.keyVariable;
  const hosted = card.server && {
    mustRecognize: true as const,
    ...(keyVariable !== undefined && { keyVariable }),
  };
  try {
    const child = await openEngineChild({
      key: keyVariable === undefined ? undefined : modelKeys[keyVariable],
      source: isDiarizer ? { engine: "diarizer", folder } : { engine: "model", folder, ...hosted },
      model: card.name,
      stuckMsMax,
      log: createLog("fatal"),
      machine: thisMachine(() => []),
      onLoad() {},
    });
    await child.close();
    return isDiarizer || hosted ? undefined : child.cpuPerSpeech;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ServiceError("failed_precondition", `${card.name} cannot be loaded: ${reason}`, {
      cause: error,
    });
  }
}
