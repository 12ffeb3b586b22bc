import type { VoiceActivity } from "../../audio/voice-activity.ts";
import type { ModelUse } from "../../models/model-choice.ts";

/** Samples per second of all audio behind this interface: 16-bit, one channel. */
export const engineSampleRate = 16_000;

/** A recognized word. Times count from the first sample of its utterance. */
export interface EngineWord {
  readonly text: string;
  readonly startMs: number;
  readonly endMs: number;
  /** 0 to 1; absent if the engine does not report it. */
  readonly confidence?: number;
}

/** One reading of an utterance. */
export interface Hypothesis {
  /** Words joined by the language's own spacing; no space at either end; never empty in a final. */
  readonly text: string;
  readonly confidence?: number;
  /** Empty if the engine has no times for this reading. */
  readonly words: readonly EngineWord[];
}

/** Words and phrases that are likely to be said. */
export interface PhraseHints {
  readonly phrases: readonly string[];
  /** How much likelier than others: 0 (not at all) to 20. */
  readonly boost: number;
}

/**
 * live: words while they are spoken. short: whole utterances for a client that waits. job: whole
 * utterances, best quality.
 */
export type RecognitionMode = ModelUse;

export interface DecoderOptions {
  /**
   * The language of the speech, one that the engine supports; optional if the engine does not need
   * it.
   */
  readonly languageCode?: string;
  readonly mode: RecognitionMode;
  /** 1 to 10. */
  readonly alternativesMax: number;
  /** Only for engines with takesHints. */
  readonly hints?: readonly PhraseHints[];
}

/**
 * Decodes one utterance after another, each cut out of the audio by the service's own endpointing:
 * begin, accept..., end, begin, ... After each accept(), work() is called until it returns false.
 */
export interface Decoder {
  begin(): void;
  /** Takes samples at engineSampleRate, in order; any split of them gives the same result. */
  accept(samples: Int16Array): void;
  /**
   * Silence began after the accepted samples: the utterance ends after this many milliseconds of
   * it, unless speech continues.
   */
  pause(msToEnd: number): void;
  /**
   * Decodes at most 100 ms more of the accepted samples; false when there is nothing to decode now.
   * Returns a promise if the work is done elsewhere (in one batch with other streams, on another
   * thread): call it again when that resolves; an earlier call is harmless. A promise for the
   * answer of another machine is marked as such (remote-answer.ts), since it takes no CPU here.
   * end() decodes what is left.
   */
  work(): boolean | Promise<void>;
  /** The best reading so far of the current utterance; undefined before there is one. */
  partial(): Hypothesis | undefined;
  /**
   * Ends the utterance: at most alternativesMax distinct readings, best first; none if no words
   * were recognized. The work comes in slices of at most 100 ms of audio: at each yield another
   * session may take its turn, and sometimes the event loop turns. A yielded promise means that
   * there is nothing to do before it resolves. The next begin() comes after the last slice.
   */
  end(): Generator<void | Promise<void>, readonly Hypothesis[], void>;
  /**
   * All that it has learned from its stream, between two utterances, so that another process can
   * continue (engine-session.ts).
   */
  save(): readonly number[];
  /** Puts a new decoder into the state that another one saved. */
  restore(saved: readonly number[]): void;
  /** Frees the decoder, even within an utterance. Its audio must not affect the next decoder. */
  close(): void;
}

/**
 * A speech recognizer for one or more languages, loaded into an engine process. Every engine passes
 * test/fixtures/engine-conformance.ts.
 */
export interface Engine {
  readonly name: string;
  /** BCP 47 codes of the languages that it recognizes. */
  readonly languageCodes: readonly string[];
  /** Speech after which an utterance ends without silence, if the client sets no limit. */
  readonly utteranceMsMax: number;
  /** Whether its decoders make use of hints. */
  readonly takesHints: boolean;
  /**
   * Whether it decodes on threads of its own, so that its cost is the CPU time of the whole
   * process.
   */
  readonly usesThreads: boolean;
  createDecoder(options: DecoderOptions): Decoder;
  createVoiceActivity(): VoiceActivity;
  close(): void;
}
