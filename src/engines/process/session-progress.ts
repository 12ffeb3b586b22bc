import { engineSampleRate } from "../protocol/engine.ts";
import type { SessionOptions } from "../protocol/engine-frames.ts";

/**
 * The seconds of audio between progress reports. A report for each chunk would cost as much as the
 * results.
 */
const intervalSeconds = 0.5;

/** The reports of how far a session is. */
export interface ProgressOutput {
  /** Reports that this many samples of the input have been processed since the last call. */
  received(samples: number): void;
  /** Reports the number of samples whose words are known. */
  progress(samples: number): void;
}

/**
 * How far a session is: what waits, what has been processed, and what has been recognized. Samples
 * are at the session's own rate unless something else is said.
 */
export class SessionProgress {
  readonly #options: Pick<SessionOptions, "mode" | "sampleRateHertz">;
  readonly #output: ProgressOutput;
  readonly #interval: number;
  #processed: number;
  /** The number of processed samples that received() has reported. */
  #received: number;
  /** The number of samples that progress() last reported. */
  #recognized = 0;
  #queued = 0;
  #leastQueued = 0;
  /**
   * An estimate of the samples of the current utterance that the decoder has yet to decode, at the
   * rate of the engine.
   */
  #undecoded = 0;

  /** With `processed`, the number of samples that another session has processed before. */
  constructor(
    options: Pick<SessionOptions, "mode" | "sampleRateHertz">,
    output: ProgressOutput,
    processed = 0,
  ) {
    this.#options = options;
    this.#output = output;
    this.#interval = options.sampleRateHertz * intervalSeconds;
    this.#processed = processed;
    this.#received = processed;
  }

  get processedSamples(): number {
    return this.#processed;
  }

  /** The time up to which the stream has been processed. */
  get processedMs(): number {
    return Math.floor((this.#processed * 1000) / this.#options.sampleRateHertz);
  }

  queue(samples: number): void {
    this.#queued += samples;
  }

  /** Counts samples that no longer wait. */
  process(samples: number): void {
    this.#queued -= samples;
    this.#leastQueued = Math.min(this.#leastQueued, this.#queued);
    this.#processed += samples;
  }

  /**
   * Returns the minimum number of seconds that waited to be processed since the last call. The
   * minimum is used because audio that has only just arrived is not late.
   */
  takeLeastQueuedSeconds(): number {
    const least = this.#leastQueued;
    this.#leastQueued = this.#queued;
    return least / this.#options.sampleRateHertz;
  }

  /** Counts samples that the decoder was given, at the rate of the engine. */
  accept(samples: number): void {
    this.#undecoded += samples;
  }

  /** Counts samples that the decoder has decoded, at the rate of the engine; by default, all. */
  decode(samples = this.#undecoded): void {
    this.#undecoded = Math.max(0, this.#undecoded - samples);
    this.reportRecognized();
  }

  /** Reports what has been processed, once it is enough for a report. */
  reportReceived(): void {
    const samples = this.#processed - this.#received;
    if (samples < this.#interval) return;
    this.#received = this.#processed;
    this.#output.received(samples);
  }

  /** Reports what has been recognized of a recording, once it is enough for a report. */
  reportRecognized(): void {
    const { mode, sampleRateHertz } = this.#options;
    if (mode !== "job") return;
    const undecoded = Math.ceil((this.#undecoded * sampleRateHertz) / engineSampleRate);
    const recognized = this.#processed - undecoded;
    if (recognized - this.#recognized < this.#interval) return;
    this.#recognized = recognized;
    this.#output.progress(recognized);
  }
}
