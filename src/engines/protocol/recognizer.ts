import type { Aligner } from "./alignment.ts";
import type { Effort, Hint, Hypothesis, RecognitionMode } from "./engine.ts";
import type { KeptOutputs } from "./kept-outputs.ts";
import type { SpeakerTurn } from "./speakers.ts";

/** A flush marker: ends the current utterance immediately, between two chunks of samples. */
export const endUtterance = Symbol("end utterance");

/**
 * The input of a recognition: samples at the session's own rate, in chunks of any size, and flush
 * markers.
 */
export type RecognitionInput = Int16Array | typeof endUtterance;

/**
 * The input of a session in an engine process. An effort applies to the utterances that begin after
 * it.
 */
export type SessionInput = RecognitionInput | Effort;

export interface RecognitionOptions {
  readonly languageCode: string;
  /** The name of the model, which must serve the language in this mode. Default: the best one. */
  readonly model?: string;
  readonly mode: RecognitionMode;
  /** The sample rate of the input, from 8000 to 48000. */
  readonly sampleRateHertz: number;
  /** From 1 to 30. Default 1. */
  readonly alternativesMax?: number;
  /** Whether to also yield hypotheses that may still change. Default false. */
  readonly interim?: boolean;
  /** The length of silence that ends an utterance. Default 500. */
  readonly silenceMsMin?: number;
  /**
   * The maximum duration of speech in an utterance that ends without silence. Default: the engine's
   * value, which is 20 000 unless it is the scripted engine.
   */
  readonly utteranceMsMax?: number;
  /** Accepted only if takesHints() is true. */
  readonly hints?: readonly Hint[];
  /**
   * For live streams: the effort of all utterances. Default: that of the operator
   * (HLUST_LIVE_EFFORT), or else full while the machine has room for it, and quick otherwise.
   */
  readonly effort?: Effort;
  /** Whether the text keeps the punctuation of models that write it. Default true. */
  readonly punctuation?: boolean;
  /**
   * Whether to also yield events when utterances begin and end, and when flush markers have taken
   * effect. Default false.
   */
  readonly speechEvents?: boolean;
  /**
   * For jobs only: called regularly with the milliseconds of input recognized so far. The number
   * only rises, even if processes are lost.
   */
  readonly onProgress?: (ms: number) => void;
  /**
   * Called once, after the last result, with the outputs of the model for all utterances. Not
   * called if the engine keeps none, or if the model was replaced in the meantime.
   */
  readonly onOutputs?: (outputs: KeptOutputs) => void;
  readonly signal?: AbortSignal;
}

/**
 * One result of a recognition. The times of its words count from the first sample of the input.
 */
export interface Recognition {
  readonly isFinal: boolean;
  /**
   * The alternatives, best first; empty only for an event. An interim result has one.
   */
  readonly alternatives: readonly Hypothesis[];
  /**
   * Set if this is not a result but an event, which comes only if speechEvents was requested: the
   * start of an utterance comes before its results, the end before its final result. "flushed"
   * comes for each flush marker, after the results of the audio before it, also if there are none.
   */
  readonly speechEvent?: "start" | "end" | "flushed";
  /** The effort of a final result of a live stream. Absent if the engine has only one. */
  readonly effort?: Effort;
  /** The milliseconds of input that this result covers, or the time of the event. */
  readonly audioEndMs: number;
}

/**
 * Who speaks in a window of a recording, as plain data. Speakers are numbered within the window.
 */
export interface WindowSpeakers {
  /** The turns. Their times count from the first sample of the window. */
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

/** What decides whether a language is refused: those that can be recognized, if all are known. */
export type KnownLanguages = Pick<Recognizer, "languageCodes" | "checkModelsKnown">;

/**
 * The models, as seen by the rest of the service: their languages, and recognition of audio as
 * text. It also aligns known words to audio.
 */
export interface Recognizer extends Aligner {
  /** Returns the languages that can be recognized in this mode, sorted. */
  languageCodes(mode: RecognitionMode): readonly string[];
  /**
   * Returns the name of the model that serves this language in this mode; undefined if there is
   * none. With `model`, it is that one, if it does.
   */
  modelName(languageCode: string, mode: RecognitionMode, model?: string): string | undefined;
  /** Returns whether this model uses hints. `model` is as in modelName(). */
  takesHints(languageCode: string, mode: RecognitionMode, model?: string): boolean;
  /**
   * Returns whether a diarization model is installed. Throws ServiceError with the code unavailable
   * (NO_ENGINE) if none is known, and the models of an engine node have never been known.
   */
  canDiarize(): boolean;
  /**
   * Throws ServiceError with the code unavailable (NO_ENGINE) if no process can diarize now: to be
   * called before other work is done.
   */
  checkDiarizer(): void;
  /**
   * Recognizes a stream. Leaving the loop or aborting the signal frees the session. The input is
   * read no faster than it is processed. A lost engine process only causes a delay. Throws
   * ServiceError: resource_exhausted if the engine could not keep up with this input (live and
   * short; from the first item on), unavailable if no engine is ready, internal if this input
   * crashes engines.
   */
  recognize(
    input: AsyncIterable<RecognitionInput> | Iterable<RecognitionInput>,
    options: RecognitionOptions,
  ): AsyncGenerator<Recognition, void, undefined>;
  /**
   * Detects who speaks in a window of some minutes, at 16 kHz. A lost process only causes a delay.
   * Throws ServiceError: unavailable if no process is ready, internal if this window crashes
   * processes; otherwise the error of the process.
   */
  diarize(window: Int16Array, signal: AbortSignal): Promise<WindowSpeakers>;
}
