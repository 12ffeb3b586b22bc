import type { VoiceActivity } from "../../audio/voice-activity.ts";
import type { ModelUse } from "../../models/model-choice.ts";

/** Samples per second of all audio behind this interface: 16-bit, one channel. */
export const engineSampleRate = 16_000;

/** A word as an engine heard it. Times count from the first sample of its utterance. */
export interface EngineWord {
  readonly text: string;
  readonly startMs: number;
  readonly endMs: number;
  /** 0 to 1; absent where the engine cannot tell. */
  readonly confidence?: number;
}

/** One reading of an utterance. */
export interface Hypothesis {
  /** Words joined by the language's own spacing; no space at either end; never empty in a final. */
  readonly text: string;
  readonly confidence?: number;
  /** Empty where the engine has no times for this reading. */
  readonly words: readonly EngineWord[];
}

/** Words and phrases that are likely to be said. */
export interface PhraseHints {
  readonly phrases: readonly string[];
  /** How much likelier than others: 0 (not at all) to 20. */
  readonly boost: number;
}

/**
 * live: heard while spoken. short: whole utterances of a waiting caller. job: whole utterances,
 * best quality.
 */
export type RecognitionMode = ModelUse;

export interface DecoderOptions {
  /** Of the speech, one of the engine's; absent: it need not be known. */
  readonly languageCode?: string;
  readonly mode: RecognitionMode;
  /** 1 to 10. */
  readonly alternativesMax: number;
  /** Only for engines with takesHints. */
  readonly hints?: readonly PhraseHints[];
}

/**
 * Hears one utterance after another, each cut out of the audio by the service's own endpointing:
 * begin, accept..., end, begin, ... with work() after each accept() for as long as there is some.
 */
export interface Decoder {
  begin(): void;
  /** Takes samples at engineSampleRate, in order; any split of them gives the same result. */
  accept(samples: Int16Array): void;
  /**
   * Silence has set in after what was accepted: the end follows in so many milliseconds, or more
   * speech.
   */
  pause(msToEnd: number): void;
  /**
   * Hears at most 100 ms more of what was accepted; false when there is no more to hear now. A
   * promise where it is heard elsewhere (in one batch with other streams, on another thread): to be
   * called again when that resolves, and harmless before. The answer of another machine is marked
   * as such (remote-answer.ts): it takes no CPU here. end() hears what is left.
   */
  work(): boolean | Promise<void>;
  /** The best reading so far of the current utterance; undefined before there is one. */
  partial(): Hypothesis | undefined;
  /**
   * Ends the utterance: at most alternativesMax distinct readings, best first; none where nothing
   * was heard. The work comes in slices of at most 100 ms of audio: at each yield another session
   * may be heard, and the event loop has turned before it goes on, now and then. A promise says
   * that there is nothing to do before it resolves. The next begin() comes after the last slice.
   */
  end(): Generator<void | Promise<void>, readonly Hypothesis[], void>;
  /**
   * All that it has learnt of its stream, between two utterances: another process may have to go on
   * (engine-session.ts).
   */
  save(): readonly number[];
  /** Lets a fresh one go on exactly where the saved one stood. */
  restore(saved: readonly number[]): void;
  /**
   * Frees the decoder, also within an utterance. Nothing of what it heard may be felt by the next
   * one.
   */
  close(): void;
}

/**
 * A speech recognizer for one or more languages, loaded into an engine process. PocketSphinx, the
 * scripted engine and every later one pass test/engine-conformance.ts.
 */
export interface Engine {
  readonly name: string;
  /** BCP 47 codes that it can hear. */
  readonly languageCodes: readonly string[];
  /** Speech after which an utterance ends without silence, where the caller names no limit. */
  readonly utteranceMsMax: number;
  /** Whether its decoders make use of hints. */
  readonly takesHints: boolean;
  /**
   * It hears on other threads than that of its caller: what it takes is the CPU time of the
   * process.
   */
  readonly usesThreads: boolean;
  createDecoder(options: DecoderOptions): Decoder;
  createVoiceActivity(): VoiceActivity;
  close(): void;
}
