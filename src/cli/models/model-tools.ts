import type { RecognizedSpeech } from "../../engines/pool/recognize-sample.ts";
import type { InstalledModel } from "../../models/models-folder.ts";

/** The functions that need engines. Without these functions, models are installed untested. */
export interface ModelTools {
  /**
   * Loads the model in a folder in a separate process and runs it. Returns the CPU seconds for a
   * second of live speech; undefined for a model that does not recognize words. Throws if this
   * fails.
   */
  readonly verify?: (folder: string) => Promise<number | undefined>;
  /** Recognizes a file; by default, a sample in a language of the model. */
  readonly recognize?: (
    model: InstalledModel,
    wavFile: string | undefined,
  ) => Promise<RecognizedSpeech>;
}
