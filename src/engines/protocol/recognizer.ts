import type { Hypothesis, PhraseHints, RecognitionMode } from "./engine.ts";
import type { SpeakerTurn } from "./speakers.ts";

/** Ends the current utterance immediately, between two chunks of samples. */
export const endUtterance = Symbol("end utterance");

/**
 * The input of a recognition: samples at the session's own rate, in chunks of any size, and flush
 * markers.
 */
export type RecognitionInput = Int16Array | typeof endUtterance;

export interface RecognitionOptions {
  readonly languageCode: string;
  readonly mode: RecognitionMode;
  /** The sample rate of the input: 8000 to 48000. */
  readonly sampleRateHertz: number;
  /** 1 to 10. Default 1. */
  readonly alternativesMax?: number;
  /** Whether to yield hypotheses that may still change, too. Default false. */
  readonly interim?: boolean;
  /** The length of silence that ends an utterance. Default 500. */
  readonly silenceMsMin?: number;
  /**
   * Speech after which an utterance ends without silence. Default: the engine's, 20 000 unless it
   * is the scripted one.
   */
  readonly utteranceMsMax?: number;
  /** Only if takesHints() is true. */
  readonly hints?: readonly PhraseHints[];
  /** Whether the text keeps the punctuation of models that write it. Default true. */
  readonly punctuation?: boolean;
  /**
   * For jobs only: called regularly with the milliseconds of input recognized so far. The number
   * only rises, even if processes are lost.
   */
  readonly onProgress?: (ms: number) => void;
  readonly signal?: AbortSignal;
}

/** One result of a recognition. Times of words count from the first sample of the input. */
export interface Recognition {
  readonly isFinal: boolean;
  /** Best first; never empty; an interim result has one. */
  readonly alternatives: readonly Hypothesis[];
  /** Milliseconds of input that this result covers. */
  readonly audioEndMs: number;
}

/** Who speaks in a window of a recording, as plain data; speakers are numbered within it. */
export interface WindowSpeakers {
  /** Times count from the first sample of the window. */
  readonly turns: readonly SpeakerTurn[];
  /**
   * The speakers with enough speech for an embedding of their voice, with their seconds of speech.
   */
  readonly speakers: readonly {
    readonly speaker: number;
    readonly embedding: readonly number[];
    readonly seconds: number;
  }[];
}

/** The models, for the rest of the service: their languages, and audio in, text out. */
export interface Recognizer {
  /** Languages that can be recognized in this mode, sorted. */
  languageCodes(mode: RecognitionMode): readonly string[];
  /** Whether the model that serves this language in this mode makes use of hints. */
  takesHints(languageCode: string, mode: RecognitionMode): boolean;
  /** Whether a diarization model is installed. */
  canDiarize(): boolean;
  /**
   * Recognizes a stream. Leaving the loop, or the signal, frees the session; the input is pulled no
   * faster than it is processed. A lost engine process costs a delay. Throws ServiceError:
   * resource_exhausted when it could not keep up with this input (live and short; from the first
   * item on), unavailable when no engine is ready, internal when this input crashes engines.
   */
  recognize(
    input: AsyncIterable<RecognitionInput> | Iterable<RecognitionInput>,
    options: RecognitionOptions,
  ): AsyncGenerator<Recognition, void, undefined>;
  /**
   * Finds out who speaks in a window of some minutes, 16 kHz. Throws ServiceError: unavailable when
   * no process can do it now.
   */
  diarize(window: Int16Array, signal: AbortSignal): Promise<WindowSpeakers>;
}
