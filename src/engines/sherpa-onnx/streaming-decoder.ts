import {
  type Decoder,
  engineSampleRate,
  type Hypothesis,
  type RecognitionMode,
} from "../protocol/engine.ts";
import { readLibraryResult } from "./library-result.ts";
import { readingOf } from "./reading.ts";
import {
  floatSamples,
  type OnlineRecognizer,
  type OnlineStream,
  type SherpaLibrary,
} from "./sherpa-library.ts";
import type { StreamBatch } from "./stream-batch.ts";

/** The parts that the streaming decoders of an engine share. */
export interface StreamingParts {
  readonly library: SherpaLibrary;
  readonly recognizer: OnlineRecognizer;
  readonly batch: StreamBatch;
  /** The duration of silence added after an utterance, so that the model decodes all of it. */
  readonly paddingMs: number;
}

/**
 * Decodes an utterance while it is spoken, in steps of the model that are batched with the steps of
 * other streams.
 */
export class StreamingDecoder implements Decoder {
  readonly #parts: StreamingParts;
  readonly #mode: RecognitionMode;
  #stream: OnlineStream | undefined;
  #samples = 0;
  #isSilent = true;
  /** Whether steps may have been decoded since the last partial reading. */
  #isStale = false;
  #partial: Hypothesis | undefined;

  constructor(parts: StreamingParts, mode: RecognitionMode) {
    this.#parts = parts;
    this.#mode = mode;
  }

  begin(): void {
    this.#drop();
    this.#stream = this.#parts.library.createOnlineStream(this.#parts.recognizer);
    this.#samples = 0;
    this.#isSilent = true;
    this.#isStale = false;
    this.#partial = undefined;
  }

  accept(samples: Int16Array): void {
    if (!this.#stream || samples.length === 0) return;
    this.#samples += samples.length;
    this.#isSilent &&= samples.every((sample) => sample === 0);
    this.#feed(this.#stream, floatSamples(samples));
  }

  pause(): void {}

  work(): false | Promise<void> {
    return this.#stream ? this.#step(this.#stream) : false;
  }

  partial(): Hypothesis | undefined {
    const stream = this.#stream;
    if (this.#mode !== "live" || !stream || this.#isSilent) return undefined;
    if (this.#isStale && !this.#parts.batch.has(stream)) {
      this.#isStale = false;
      this.#partial = this.#reading(stream);
    }
    return this.#partial;
  }

  *end(): Generator<Promise<void>, readonly Hypothesis[], void> {
    const stream = this.#stream;
    if (!stream) return [];
    try {
      // Decoding of an utterance of silence is never finished, since models find words in silence.
      if (this.#isSilent) return [];
      const { library, paddingMs } = this.#parts;
      this.#feed(stream, new Float32Array((paddingMs * engineSampleRate) / 1000));
      library.inputFinished(stream);
      for (let step = this.#step(stream); step !== false; step = this.#step(stream)) yield step;
      const reading = this.#reading(stream);
      return reading ? [reading] : [];
    } finally {
      this.#drop();
    }
  }

  save(): readonly number[] {
    return [];
  }

  restore(): void {}

  close(): void {
    this.#drop();
  }

  #feed(stream: OnlineStream, samples: Float32Array): void {
    const waveform = { samples, sampleRate: engineSampleRate };
    this.#parts.library.acceptWaveformOnline(stream, waveform);
  }

  #step(stream: OnlineStream): false | Promise<void> {
    const { library, recognizer, batch } = this.#parts;
    if (!library.isOnlineStreamReady(recognizer, stream)) return false;
    this.#isStale = true;
    return batch.decode(stream, this.#mode);
  }

  #reading(stream: OnlineStream): Hypothesis | undefined {
    const { library, recognizer } = this.#parts;
    const json = library.getOnlineStreamResultAsJson(recognizer, stream);
    return readingOf(readLibraryResult(json), (this.#samples * 1000) / engineSampleRate);
  }

  #drop(): void {
    if (this.#stream) this.#parts.batch.remove(this.#stream);
    this.#stream = undefined;
  }
}
