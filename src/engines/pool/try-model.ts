import { createLog } from "../../std/log.ts";
import { ServiceError } from "../../std/service-error.ts";
import { openEngineChild } from "./engine-child.ts";
import { thisMachine } from "./machine.ts";
import { parseNamedCard, readCardText } from "../../models/models-folder.ts";

const stuckMsMax = 60_000;

/**
 * Loads the model in a folder in a separate process, which decodes some audio and ends. If that
 * fails, throws ServiceError with the reason, even if the library crashes the process. Returns the
 * CPU seconds for a second of live speech; undefined for a model that does not recognize words.
 */
export async function tryModel(folder: string): Promise<number | undefined> {
  const card = parseNamedCard(await readCardText(folder));
  const isDiarizer = card.kind === "diarization";
  try {
    const child = await openEngineChild({
      source: { engine: isDiarizer ? "diarizer" : "model", folder },
      model: card.name,
      stuckMsMax,
      log: createLog("fatal"),
      machine: thisMachine(() => []),
      onLoad() {},
    });
    await child.close();
    return isDiarizer ? undefined : child.cpuPerSpeech;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ServiceError("failed_precondition", `${card.name} cannot be loaded: ${reason}`, {
      cause: error,
    });
  }
}
