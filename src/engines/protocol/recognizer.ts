import type { Hypothesis, PhraseHints, RecognitionMode } from "./engine.ts";
import type { SpeakerTurn } from "./speakers.ts";

/** Ends the current utterance at once, between two chunks of samples. */
export const endUtterance = Symbol("end utterance");

/**
 * What goes into a recognition: samples at the session's own rate, in chunks of any size, and
 * marks.
 */
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
  /**
   * Speech after which an utterance ends without silence. Default: the engine's, 20 000 unless it
   * is the scripted one.
   */
  readonly utteranceMsMax?: number;
  /** Only where takesHints() says so. */
  readonly hints?: readonly PhraseHints[];
  /** Whether the text keeps the punctuation of models that write it. Default true. */
  readonly punctuation?: boolean;
  /**
   * Of jobs: told now and then how much of the input is recognized, in milliseconds; it only rises,
   * whatever happens to processes.
   */
  readonly onProgress?: (ms: number) => void;
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

/** Who speaks in a window of a recording, as plain data; speakers are numbered within it. */
export interface WindowSpeakers {
  /** Times count from the first sample of the window. */
  readonly turns: readonly SpeakerTurn[];
  /**
   * Those who spoke for long enough to be told apart, each with what the voice is like and seconds
   * of speech.
   */
  readonly speakers: readonly {
    readonly speaker: number;
    readonly embedding: readonly number[];
    readonly seconds: number;
  }[];
}

/** The models as the rest of the service sees them: languages, and audio in, text out. */
export interface Recognizer {
  /** Languages that can be heard in this mode, sorted. */
  languageCodes(mode: RecognitionMode): readonly string[];
  /** Whether hints are of use to the model that hears this language in this mode. */
  takesHints(languageCode: string, mode: RecognitionMode): boolean;
  /** Whether a model is installed that tells speakers apart. */
  canDiarize(): boolean;
  /**
   * Recognizes a stream. Leaving the loop, or the signal, frees the session; the input is pulled no
   * faster than it is heard. A lost engine process costs a delay. Throws ServiceError:
   * resource_exhausted when this could not be heard in time (live and short; from the first item
   * on), unavailable when no engine is ready, internal when engines die of this very input.
   */
  recognize(
    input: AsyncIterable<RecognitionInput> | Iterable<RecognitionInput>,
    options: RecognitionOptions,
  ): AsyncGenerator<Recognition, void, undefined>;
  /**
   * Who speaks in a window of some minutes, 16 kHz. Throws ServiceError: unavailable when this
   * cannot be told now.
   */
  diarize(window: Int16Array, signal: AbortSignal): Promise<WindowSpeakers>;
}
