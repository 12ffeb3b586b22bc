import type { VoiceActivity } from "../audio/voice-activity.ts";
import {
  type Decoder,
  type DecoderOptions,
  type Engine,
  engineSampleRate,
  type EngineWord,
  type Hypothesis,
} from "./engine.ts";

/** A word for each half second. */
const wordMs = 500;
const samplesPerMs = engineSampleRate / 1000;

/**
 * An engine for load tests and for what a real one cannot be made to do: it hears a new word every 500 ms of an utterance and
 * costs next to nothing. Any sample other than 0 is speech; the text depends on the length of the speech alone.
 */
export function createScriptedEngine(): Engine {
  return {
    name: "scripted",
    languageCodes: ["en-US", "is-IS"],
    utteranceMsMax: 10_000,
    createDecoder: (options) => new ScriptedDecoder(options),
    createVoiceActivity: () => new DigitalActivity(),
    close() {},
  };
}

class ScriptedDecoder implements Decoder {
  readonly #options: DecoderOptions;
  #samples = 0;
  /** First sample that is not 0, and the one after the last such. */
  #first: number | undefined;
  #last = 0;
  #partial: Hypothesis | undefined;

  constructor(options: DecoderOptions) {
    this.#options = options;
  }

  begin(): void {
    this.#samples = 0;
    this.#first = undefined;
    this.#last = 0;
    this.#partial = undefined;
  }

  accept(samples: Int16Array): void {
    const last = samples.findLastIndex((sample) => sample !== 0);
    if (last >= 0) {
      this.#first ??= this.#samples + samples.findIndex((sample) => sample !== 0);
      this.#last = this.#samples + last + 1;
    }
    this.#samples += samples.length;
  }

  partial(): Hypothesis | undefined {
    if (this.#options.mode !== "live") return undefined;
    const count = this.#wordCount();
    if (count > 0 && count !== this.#partial?.words.length) this.#partial = this.#reading(0);
    return this.#partial;
  }

  // oxlint-disable-next-line require-yield -- there is never enough work for a second slice
  *end(): Generator<void, readonly Hypothesis[], void> {
    if (this.#wordCount() === 0) return [];
    return Array.from({ length: this.#options.alternativesMax }, (_, rank) => this.#reading(rank));
  }

  close(): void {}

  #wordCount(): number {
    if (this.#first === undefined) return 0;
    return Math.ceil((this.#last - this.#first) / (wordMs * samplesPerMs));
  }

  /** Readings differ in their last word. */
  #reading(rank: number): Hypothesis {
    const count = this.#wordCount();
    const firstMs = Math.floor((this.#first ?? 0) / samplesPerMs);
    const lastMs = Math.ceil(this.#last / samplesPerMs);
    const words = Array.from({ length: count }, (_, index): EngineWord => {
      const number = index + 1;
      return {
        text: rank > 0 && number === count ? `word${number}-${rank}` : `word${number}`,
        startMs: firstMs + index * wordMs,
        endMs: Math.min(lastMs, firstMs + number * wordMs),
        confidence: 1 / (rank + 1),
      };
    });
    return { text: words.map(({ text }) => text).join(" "), confidence: 1 / (rank + 1), words };
  }
}

/** Exact: digital silence is silence, anything else is speech. */
class DigitalActivity implements VoiceActivity {
  /** 20 ms. */
  readonly frameSamples = 320;
  readonly delayFrames = 0;

  isSpeech(frame: Int16Array): boolean {
    return frame.some((sample) => sample !== 0);
  }
}
