import type { Hypothesis, RecognitionMode } from "./engine.ts";

/** Ends the current utterance at once, between two chunks of samples. */
export const endUtterance = Symbol("end utterance");

/** What goes into a recognition: samples at the session's own rate, in chunks of any size, and marks. */
export type RecognitionInput = Int16Array | typeof endUtterance;

export interface RecognitionOptions {
  readonly languageCode: string;
  readonly mode: RecognitionMode;
  /** Of the input: 8000 to 48000. */
  readonly sampleRateHertz: number;
  /** 1 to 10. Default 1. */
  readonly alternativesMax?: number;
  /** Also yield hypotheses that may still change. Default false. */
  readonly interim?: boolean;
  /** Silence that ends an utterance. Default 500. */
  readonly silenceMsMin?: number;
  /** Speech after which an utterance ends without silence. Default: the engine's, 20 000 unless it is the scripted one. */
  readonly utteranceMsMax?: number;
  readonly signal?: AbortSignal;
}

/** One message of a recognition. Times of words count from the first sample of the input. */
export interface Recognition {
  readonly isFinal: boolean;
  /** Best first; never empty; an interim one has one. */
  readonly alternatives: readonly Hypothesis[];
  /** Milliseconds of input that this message covers. */
  readonly audioEndMs: number;
}

/** The engines as the rest of the service sees them: languages, and audio in, text out. */
export interface Recognizer {
  /** Languages of the loaded engines, sorted. */
  readonly languageCodes: readonly string[];
  /**
   * Recognises a stream. Leaving the loop, or the signal, frees the session; the input is pulled no faster than it is heard.
   * A lost engine process costs a delay. Throws ServiceError: resource_exhausted when this could not be heard in time (live and
   * short; from the first item on), unavailable when no engine is ready, internal when engines die of this very input.
   */
  recognize(
    input: AsyncIterable<RecognitionInput> | Iterable<RecognitionInput>,
    options: RecognitionOptions,
  ): AsyncGenerator<Recognition, void, undefined>;
}
