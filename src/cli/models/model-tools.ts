import type { InstalledModel } from "../../models/models-folder.ts";

/** What a model made of a recording. */
export interface HeardSpeech {
  readonly text: string;
  readonly audioSeconds: number;
  /** Without the time that loading took. */
  readonly tookMs: number;
}

/** What needs engines; without it models are installed unheard. */
export interface ModelTools {
  /**
   * Loads the model of a folder in a process of its own and lets it hear something. Throws when it
   * cannot.
   */
  readonly verify?: (folder: string) => Promise<void>;
  /** Without a file: a sample in a language of the model. */
  readonly hear?: (model: InstalledModel, wavFile: string | undefined) => Promise<HeardSpeech>;
}
