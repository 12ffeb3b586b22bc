import type { SessionOptions } from "../protocol/engine-frames.ts";
import { engineSampleRate } from "../protocol/engine.ts";
import type { RecognitionOptions } from "../protocol/recognizer.ts";

const silenceMsDefault = 500;

/** Returns the options of the sessions of a recognition, with the defaults. */
export function sessionOptions(options: RecognitionOptions): SessionOptions {
  return {
    languageCode: options.languageCode,
    mode: options.mode,
    sampleRateHertz: options.sampleRateHertz,
    alternativesMax: options.alternativesMax ?? 1,
    interim: options.interim ?? false,
    silenceMsMin: options.silenceMsMin ?? silenceMsDefault,
    ...(options.utteranceMsMax !== undefined && { utteranceMsMax: options.utteranceMsMax }),
    ...(options.hints && { hints: options.hints }),
    punctuation: options.punctuation ?? true,
    ...(options.speechEvents === true && { speechEvents: true }),
    ...(options.onOutputs && { keepsOutputs: true }),
  };
}

/** Returns the options of the session of a window, which is aligned or diarized as a whole. */
export function windowOptions(languageCode: string): SessionOptions {
  return {
    languageCode,
    mode: "job",
    sampleRateHertz: engineSampleRate,
    alternativesMax: 1,
    interim: false,
    silenceMsMin: 0,
    punctuation: true,
  };
}
