import type { VoiceActivity } from "../../audio/voice-activity.ts";
import type { ModelUse } from "../../models/model-choice.ts";
import type { WordTime } from "./alignment.ts";
import type { EngineAbsence } from "./engine-absence.ts";
import type { OutputsWindow } from "./kept-outputs.ts";

/** The sample rate of all audio behind this interface, which is 16-bit with one channel. */
export const engineSampleRate = 16_000;

/** A recognized word. Its times count from the first sample of its utterance. */
export interface EngineWord {
  readonly text: string;
  readonly startMs: number;
  readonly endMs: number;
  /** From 0 to 1; absent if the engine does not report it. */
  readonly confidence?: number;
  /** Whether the times were not recognized: see spreadWords(). Engines never set it. */
  readonly estimatedTimes?: true;
}

/** One reading of an utterance. */
export interface Hypothesis {
  /**
   * Words joined by the language's own spacing, without a space at either end. Never empty in a
   * final result.
   */
  readonly text: string;
  readonly confidence?: number;
  /** Empty if the engine has no word times for this reading. */
  readonly words: readonly EngineWord[];
}

/** A word or phrase that is likely to be said. */
export interface Hint {
  readonly phrase: string;
  /** How much likelier than other phrases, from 0 (no likelier) to 20. */
  readonly boost: number;
  /**
   * Texts that sound like the phrase, in the spelling of the language: "shivawn" for "Siobhan".
   * They are read instead of the phrase. Engines that recognize letters, not sounds, ignore them.
   */
  readonly soundsLike?: readonly string[];
}

/**
 * live: words while they are spoken. short: whole utterances for a client that waits. job: whole
 * utterances in the best quality.
 */
export type RecognitionMode = ModelUse;

/**
 * How much work the recognition of a live utterance takes. quick: one search while it is spoken.
 * full: additional work, which makes the final result as accurate as that of a short recording.
 */
export type Effort = "quick" | "full";

export interface DecoderOptions {
  /**
   * The language of the speech, which must be one that the engine supports. Optional if the engine
   * does not need it.
   */
  readonly languageCode?: string;
  readonly mode: RecognitionMode;
  /** 1 to 30. */
  readonly alternativesMax: number;
  /** Used only by engines with takesHints. */
  readonly hints?: readonly Hint[];
  /** Whether takeOutputs() is called after each utterance. Default false. */
  readonly keepsOutputs?: boolean;
}

/**
 * Decodes one utterance after another, each cut out of the audio by the service's own endpointing:
 * begin, accept..., end, begin, ... After each accept(), work() is called until it returns false.
 */
export interface Decoder {
  /** Engines without `fullEffort` ignore the effort, which is quick by default. */
  begin(effort?: Effort): void;
  /** Accepts samples at engineSampleRate, in order. Any split of them gives the same result. */
  accept(samples: Int16Array): void;
  /**
   * Reports that silence began after the accepted samples. The utterance ends after `msToEnd`
   * milliseconds of silence, unless speech continues.
   */
  pause(msToEnd: number): void;
  /**
   * Decodes at most 100 ms more of the accepted samples. Returns false if there is nothing to
   * decode now, or a promise if the work is done elsewhere (in one batch with other streams, or on
   * another thread). In the latter case, call work() again when the promise resolves; an earlier
   * call is harmless. A promise for the response of another machine is marked as such
   * (remote-answer.ts), since it takes no CPU time here. end() decodes the remaining samples.
   */
  work(): boolean | Promise<void>;
  /**
   * Does at most 100 ms more of the work that end() would do if the utterance ended now. Called
   * while the session has no input. Returns false if there is no such work now. Absent if end() has
   * little to do.
   */
  prepareEnd?(): boolean;
  /** Returns the best reading so far of the current utterance; undefined if there is none yet. */
  partial(): Hypothesis | undefined;
  /**
   * Ends the utterance. Returns at most alternativesMax distinct readings, best first; none if no
   * words were recognized. The work is done in slices of at most 100 ms of audio: at each yield
   * another session may take its turn, and sometimes the event loop turns. A yielded promise means
   * that there is nothing to do before it resolves. The next begin() is called after the last
   * slice.
   */
  end(): Generator<void | Promise<void>, readonly Hypothesis[], void>;
  /**
   * The effort of the utterance that has just ended. Absent if the engine has no `fullEffort`, or
   * in other modes than live.
   */
  readonly effort?: Effort;
  /** The cumulative additional work of full effort. Absent together with `effort`. */
  readonly fullWork?: FullWork;
  /**
   * Returns the compacted outputs of the model for the utterance that has just ended. Absent if the
   * engine keeps none.
   */
  takeOutputs?(): Uint8Array;
  /**
   * Returns all that the decoder has learned from its stream, between two utterances, so that
   * another process can continue (engine-session.ts).
   */
  save(): readonly number[];
  /** Puts a new decoder into a state saved by another decoder. */
  restore(saved: readonly number[]): void;
  /** Frees the decoder, even within an utterance. Its audio must not affect the next decoder. */
  close(): void;
}

/** The additional work of full effort, which is part of all work. */
export interface FullWork {
  readonly workMs: number;
  /** The seconds of speech that it was spent on. */
  readonly audioSeconds: number;
}

/**
 * The slices of an alignment. A yielded promise means that there is nothing to do before it
 * resolves.
 */
export type AlignmentSlices = Generator<void | Promise<void>, readonly WordTime[], void>;

/**
 * A speech recognizer for one or more languages, loaded into an engine process. Every engine passes
 * test/fixtures/engine-conformance.ts.
 */
export interface Engine {
  readonly name: string;
  /** The BCP 47 codes of the languages that the engine recognizes. */
  readonly languageCodes: readonly string[];
  /**
   * The maximum duration of speech in an utterance that ends without silence, if the client sets no
   * limit.
   */
  readonly utteranceMsMax: number;
  /** Whether the engine's decoders use hints. */
  readonly takesHints: boolean;
  /**
   * Whether the engine decodes on its own threads, so that its cost is the CPU time of the whole
   * process.
   */
  readonly usesThreads: boolean;
  /**
   * The CPU time that full effort takes in addition, relative to quick effort, as expected before
   * it is measured. Absent if the engine has only one effort.
   */
  readonly fullEffort?: number;
  createDecoder(options: DecoderOptions): Decoder;
  createVoiceActivity(): VoiceActivity;
  /**
   * Finds the times of the words of a window, one for each word. The work is done in slices, as
   * that of Decoder.end(). Absent if the engine cannot align words.
   */
  align?(window: Int16Array, words: readonly string[]): AlignmentSlices;
  /**
   * The server elsewhere that does the work of a hosted model. Its decoders throw EngineUnavailable
   * while it is absent. Absent if this process does the work.
   */
  readonly server?: {
    /** The maximum number of sessions that the server gets at a time. */
    readonly sessionsMax: number;
    /** The modes that the server is used for. */
    readonly uses: readonly RecognitionMode[];
    /** Returns why the server cannot recognize now; undefined if it can. */
    absence(): EngineAbsence | undefined;
  };
  /** Absent if the engine's decoders return no outputs. */
  readonly outputs?: {
    /** The name of the model, which changes with its files. */
    readonly model: string;
    /** The same as align(), with the outputs of decoders of this model instead of samples. */
    align(window: Omit<OutputsWindow, "model">, words: readonly string[]): AlignmentSlices;
  };
  close(): void;
}
