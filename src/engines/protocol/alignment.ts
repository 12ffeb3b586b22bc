import type { OutputsWindow } from "./kept-outputs.ts";

/**
 * The time of a word in a window or a recording, in whole milliseconds from its first sample. The
 * times of words never decrease, and lie within the audio.
 */
export interface WordTime {
  readonly startMs: number;
  readonly endMs: number;
  /**
   * How well the sound fits the word, from 0 to 1. 0: the word was not found, and its time comes
   * from its neighbors and from the sound between them.
   */
  readonly score: number;
}

/** The maximum length of a window, and the maximum number of its words. */
export const alignedMsMax = 300_000;
export const alignedWordsMax = 4000;

/** The ErrorInfo.reason for a language whose installed models cannot align words. */
export const alignmentNotSupported = "ALIGNMENT_NOT_SUPPORTED";

/** Finds the times of known words in audio. */
export interface Aligner {
  /** Returns the languages whose words can be aligned, sorted. */
  alignedLanguageCodes(): readonly string[];
  /**
   * Throws ServiceError with the code unavailable (NO_ENGINE) while the models of an engine node
   * are not known: to be called before anything is refused because no installed model has it.
   */
  checkModelsKnown(): void;
  /**
   * Returns the model whose outputs align() takes for this language, instead of samples; undefined
   * if there is none.
   */
  outputsModel(languageCode: string): string | undefined;
  /**
   * Finds the times of the words of a window, which has samples at 16 kHz or outputs of a model:
   * one for each word, in order. A word that is not found has a score of 0. A lost engine process
   * only causes a delay. Throws ServiceError: invalid_argument if the window or its words are too
   * long, failed_precondition with the reason ALIGNMENT_NOT_SUPPORTED if no installed model can
   * align the language, unavailable if no engine is ready or the outputs are of another model,
   * internal if this window crashes engines.
   */
  align(
    window: AlignedWindow,
    words: readonly string[],
    options: AlignOptions,
  ): Promise<readonly WordTime[]>;
}

export type AlignedWindow = Int16Array | OutputsWindow;

export interface AlignOptions {
  readonly languageCode: string;
  readonly signal: AbortSignal;
}
