import type { InstalledModel } from "../../models/models-folder.ts";

/** The result of a model for a recording. */
export interface RecognizedSpeech {
  readonly text: string;
  readonly audioSeconds: number;
  /** The time of recognition, without loading. */
  readonly tookMs: number;
}

/** The functions that need engines; without them models are installed untested. */
export interface ModelTools {
  /** Loads the model of a folder in a separate process and runs it. Throws if that fails. */
  readonly verify?: (folder: string) => Promise<void>;
  /** Recognizes a file. Default: a sample in a language of the model. */
  readonly recognize?: (
    model: InstalledModel,
    wavFile: string | undefined,
  ) => Promise<RecognizedSpeech>;
}
