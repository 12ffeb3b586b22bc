import type { OnnxOptions } from "../../models/onnx-options.ts";

/**
 * What an engine process loads: an engine that comes with its own model, or the model in a folder.
 */
export type EngineSource = (
  | { readonly engine: "pocketsphinx" | "scripted" }
  | {
      readonly engine: "model";
      readonly folder: string;
      /** The variable of the environment with the key for the server of a hosted model. */
      readonly keyVariable?: string;
      /** Whether a hosted model is loaded only if its server recognizes speech now. */
      readonly mustRecognize?: true;
    }
) & {
  /** Replaces the engine's own detector of voice activity. */
  readonly voiceActivity?: "network";
  /** How the networks of the ctc engine run. Default: on the processor. */
  readonly onnx?: OnnxOptions;
};

/** The diarization model that a process loads (diarizer-process.ts). */
export interface DiarizerSource {
  readonly engine: "diarizer";
  readonly folder: string;
}
