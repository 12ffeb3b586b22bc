import { pcmSampleBytes, type PcmEncoding } from "../audio/pcm-samples.ts";
import { resampledRate } from "../audio/resample.ts";
import type { AudioError } from "../audio/audio-error.ts";
import type { Caller } from "../auth/caller.ts";
import type { Meter } from "../auth/meter.ts";
import type { Hint } from "../engines/protocol/engine.ts";
import type { Recognizer } from "../engines/protocol/recognizer.ts";
import { Deadline } from "../speech/deadline.ts";
import {
  recognizeStream,
  streamTooLong,
  type LiveLimits,
  type StreamConfig,
} from "../speech/recognize-stream.ts";
import type { WrittenHypothesis, WrittenRecognition } from "../speech/result-writer.ts";
import type { SpeechDecoding } from "../speech/speech-service.ts";
import { invalidArgument, type ServiceError } from "../std/service-error.ts";
import type { AccountHints } from "../vocabulary/account-hints.ts";
import type { WritingOptions } from "../writing/write-words.ts";
import { LiveMessages, type LiveInput } from "./live-input.ts";

export interface LiveParts {
  readonly recognizer: Recognizer;
  readonly meter: Pick<Meter, "openStream">;
  readonly decoding: Pick<SpeechDecoding, "sandbox" | "places">;
  readonly accountHints: AccountHints;
  readonly limits: LiveLimits;
}

/** The audio of a session: samples, or a container that is recognized by its first bytes. */
export type LiveAudio =
  | {
      readonly kind: "bare";
      readonly encoding: PcmEncoding;
      readonly sampleRateHertz: number;
      /** Two channels are averaged. */
      readonly channels: 1 | 2;
    }
  | { readonly kind: "container" };

export interface LiveConfig {
  readonly audio: LiveAudio;
  /** How words are written, and their language, which must be installed. */
  readonly writing: WritingOptions;
  readonly hints: readonly Hint[];
  /** Whether hypotheses that may still change are events. */
  readonly interim: boolean;
  /** Default: 1. */
  readonly alternativesMax?: number;
  /** The length of silence that ends an utterance. Default: 500. */
  readonly silenceMsMin?: number | undefined;
  /** The names of the dialect's options for messages about wrong audio. */
  readonly fields: { readonly audio: string; readonly sampleRateHertz: string };
}

/** Times are milliseconds since the first sample of the session. */
export type LiveEvent =
  | { readonly kind: "speechStart"; readonly atMs: number }
  | { readonly kind: "interim"; readonly best: WrittenHypothesis; readonly endMs: number }
  | {
      readonly kind: "final";
      readonly alternatives: readonly WrittenHypothesis[];
      readonly startMs: number;
      readonly endMs: number;
      /** Whether the utterance reached its maximum length, instead of a pause or a mark. */
      readonly isCut: boolean;
    }
  /** All results of the audio before a `finalize` have come. */
  | { readonly kind: "finalized"; readonly endMs: number };

/** A stream without audio for this long leaves its place at an engine. */
const pauseMs = 30_000;
/** The maximum length of an utterance without a pause. */
const utteranceMsMax = 20_000;
/** A length that no stream reaches: the session itself replaces its streams before. */
const unlimitedMs = 2 ** 31 - 1;

export interface LiveCall {
  readonly caller: Caller;
  readonly signal: AbortSignal;
}

/**
 * A live session, as StreamingRecognize recognizes it: metered, and with the account's vocabulary.
 * It can last longer than one stream: a stream of samples is replaced by another one after a pause
 * and at the maximum length of a stream, and times continue. The input is read no faster than it is
 * recognized.
 */
export class LiveSession {
  readonly #parts: LiveParts;
  readonly #config: LiveConfig;
  readonly #messages: LiveMessages;
  readonly #call: LiveCall;
  #audioMs = 0;
  /** When the current utterance began. */
  #startMs = 0;

  constructor(
    parts: LiveParts,
    config: LiveConfig,
    inputs: AsyncIterator<LiveInput, undefined>,
    call: LiveCall,
  ) {
    this.#parts = parts;
    this.#config = config;
    this.#call = call;
    this.#messages = new LiveMessages(inputs, {
      frameBytes: frameBytesOf(config.audio),
      pauseMs,
      renewMs: parts.limits.streamMsMax,
    });
  }

  /** The milliseconds of audio that were received. */
  get audioMs(): number {
    return Math.round(this.#audioMs);
  }

  /**
   * Returns the events, to be read once, until the input ends. Throws the errors of
   * StreamingRecognize, after the results of the audio before.
   */
  async *events(): AsyncGenerator<LiveEvent, void, undefined> {
    using metered = await this.#parts.meter.openStream(this.#call.caller);
    const meterAudio = (ms: number): ServiceError | undefined => {
      this.#audioMs += ms;
      return metered.meterAudio(ms);
    };
    for (;;) {
      const { done, value } = await this.#messages.peek();
      if (done === true) return;
      if (value instanceof Uint8Array) {
        yield* this.#stream(meterAudio);
        continue;
      }
      // A mark without audio before it.
      this.#messages.take();
      yield { kind: "finalized", endMs: this.audioMs };
    }
  }

  async *#stream(
    meterAudio: (ms: number) => ServiceError | undefined,
  ): AsyncGenerator<LiveEvent, void, undefined> {
    const { recognizer, decoding, limits, accountHints } = this.#parts;
    const { accountId } = this.#call.caller;
    const offsetMs = this.audioMs;
    const isBare = this.#config.audio.kind === "bare";
    const streamMsMax = isBare ? unlimitedMs : limits.streamMsMax;
    using deadline = new Deadline(streamMsMax, () => streamTooLong(limits));
    using _begun = this.#messages.begin();
    const found = recognizeStream(
      this.#messages,
      streamConfigOf(this.#config, recognizer),
      recognizer,
      {
        limits: { streamMsMax, audioMsMax: streamMsMax },
        meterAudio,
        extendHints: async (hints, languageCode) =>
          await accountHints.extend(hints, { accountId, languageCode }),
        decoding,
        explain: (error) => explained(error, this.#config.fields),
        call: this.#call,
        deadline,
      },
    );
    for await (const recognition of found) {
      const event = this.#eventOf(recognition, offsetMs);
      if (event) yield event;
    }
    while (this.#messages.takeMark()) yield { kind: "finalized", endMs: this.audioMs };
  }

  #eventOf(recognition: WrittenRecognition, offsetMs: number): LiveEvent | undefined {
    const { speechEvent, isFinal, audioEndMs } = recognition;
    const endMs = audioEndMs + offsetMs;
    switch (speechEvent) {
      case "start":
        this.#messages.isSpeaking = true;
        this.#startMs = endMs;
        return { kind: "speechStart", atMs: endMs };
      case "end":
        this.#messages.isSpeaking = false;
        return undefined;
      case "flushed":
        return this.#messages.takeMark() ? { kind: "finalized", endMs } : undefined;
      case undefined:
        break;
    }
    const alternatives = recognition.alternatives.map((each) => later(each, offsetMs));
    const [best] = alternatives;
    if (!best) return undefined;
    if (!isFinal) return { kind: "interim", best, endMs };
    const startMs = this.#startMs;
    return {
      kind: "final",
      alternatives,
      startMs,
      endMs,
      isCut: endMs - startMs >= utteranceMsMax,
    };
  }
}

function streamConfigOf(config: LiveConfig, recognizer: Recognizer): StreamConfig {
  const { audio, writing, hints, interim, alternativesMax, silenceMsMin } = config;
  return {
    form: audio.kind === "bare" ? audio : { kind: "container", encoding: "GUESS" },
    options: {
      languageCode: writing.languageCode,
      mode: "live",
      sampleRateHertz: audio.kind === "bare" ? audio.sampleRateHertz : resampledRate,
      alternativesMax: alternativesMax ?? 1,
      interim,
      ...(silenceMsMin !== undefined && { silenceMsMin }),
      utteranceMsMax,
      punctuation: writing.punctuation,
      speechEvents: true,
    },
    writing,
    ...(hints.length > 0 && { hints }),
    usesVocabulary: recognizer.takesHints(writing.languageCode, "live"),
  };
}

function frameBytesOf(audio: LiveAudio): number | undefined {
  return audio.kind === "bare" ? pcmSampleBytes[audio.encoding] * audio.channels : undefined;
}

function explained({ field, message }: AudioError, fields: LiveConfig["fields"]): ServiceError {
  const name = field === "audio" ? fields.audio : fields.sampleRateHertz;
  return invalidArgument([{ field: name, description: message }]);
}

function later(hypothesis: WrittenHypothesis, offsetMs: number): WrittenHypothesis {
  if (offsetMs === 0) return hypothesis;
  const words = hypothesis.words.map((word) => ({
    ...word,
    startMs: word.startMs + offsetMs,
    endMs: word.endMs + offsetMs,
  }));
  return { ...hypothesis, words };
}
