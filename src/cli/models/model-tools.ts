import type { InstalledModel } from "../../models/models-folder.ts";

/** The result of a model for a recording. */
export interface RecognizedSpeech {
  readonly text: string;
  readonly audioSeconds: number;
  /** Without the time of loading. */
  readonly tookMs: number;
}

/** The parts that need engines; without them models are installed untested. */
export interface ModelTools {
  /** Loads the model of a folder in a process of its own and runs it. Throws if it fails. */
  readonly verify?: (folder: string) => Promise<void>;
  /** Default file: a sample in a language of the model. */
  readonly recognize?: (
    model: InstalledModel,
    wavFile: string | undefined,
  ) => Promise<RecognizedSpeech>;
}
