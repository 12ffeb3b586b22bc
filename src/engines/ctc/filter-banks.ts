import { engineSampleRate } from "../protocol/engine.ts";
import { MelFilters, silenceFeature } from "./mel-filters.ts";
import { PowerSpectrum } from "./power-spectrum.ts";

/** The time from one frame to the next, in milliseconds. */
export const featureMs = 10;
const shiftSamples = (featureMs * engineSampleRate) / 1000;
/** The length of a window: 25 ms. */
const windowSamples = 400;
const transformSamples = 512;
/**
 * The number of samples by which the first window begins before the first sample, so that each
 * window is centered on its 10 ms.
 */
const leadSamples = windowSamples / 2 - shiftSamples / 2;
const range = { lowHertz: 20, highHertz: 7600, sampleRate: engineSampleRate };
const preemphasis = 0.97;
/** The divisor of 16-bit samples. */
const fullScale = 32_768;
/** Povey's window: a Hann window to the power of 0.85, so that it is zero at both ends. */
const window = Float64Array.from({ length: windowSamples }, (_, index) =>
  Math.pow(0.5 - 0.5 * Math.cos((2 * Math.PI * index) / (windowSamples - 1)), 0.85),
);

/**
 * Logarithmic mel filter banks of a stream of samples, as Kaldi computes them (feature-fbank.cc
 * with snip_edges=false, no dither; samples from -1 to 1). Neural models are trained on these
 * features. Frames are kept until they are dropped.
 */
export class FilterBanks {
  readonly binCount: number;
  readonly #filters: MelFilters;
  readonly #spectrum = new PowerSpectrum(transformSamples);
  readonly #frame = new Float64Array(transformSamples);
  readonly #powers = new Float64Array(transformSamples / 2);
  /** The samples of a window at an end of the utterance. */
  readonly #edge = new Float64Array(windowSamples);
  /** The last samples, starting with #firstSample of the utterance. */
  #samples = new Float64Array(4 * windowSamples);
  #firstSample = 0;
  #sampleCount = 0;
  /** The number of frames created from the samples of this utterance. */
  #madeCount = 0;
  #values: Float32Array;
  #from = 0;
  #to = 0;

  /** Creates empty filter banks, with memory for `room` frames. */
  constructor(binCount = 80, room = 64) {
    this.binCount = binCount;
    this.#filters = new MelFilters(binCount, transformSamples, range);
    this.#values = new Float32Array(room * binCount);
  }

  /** The number of frames. */
  get count(): number {
    return (this.#to - this.#from) / this.binCount;
  }

  /** The frames, one after another, as a view that is valid until the next change. */
  get values(): Float32Array {
    return this.#values.subarray(this.#from, this.#to);
  }

  accept(samples: Int16Array): void {
    // The samples are added in parts, so that only a few have to be kept.
    for (let at = 0; at < samples.length; at += windowSamples) {
      this.#keep(samples.subarray(at, at + windowSamples));
      const whole =
        Math.floor((this.#sampleCount + leadSamples - windowSamples) / shiftSamples) + 1;
      this.#make(whole);
    }
  }

  /** Creates the last frames, for which the last samples are mirrored. */
  end(): void {
    this.#make(Math.floor((this.#sampleCount + shiftSamples / 2) / shiftSamples));
  }

  /** Adds frames of digital silence. */
  addSilence(count: number): void {
    const length = count * this.binCount;
    this.#makeRoom(length);
    this.#values.fill(silenceFeature, this.#to, this.#to + length);
    this.#to += length;
  }

  /** Removes the first frames. */
  drop(count: number): void {
    this.#from += count * this.binCount;
  }

  /** Begins another utterance. */
  clear(): void {
    this.#firstSample = 0;
    this.#sampleCount = 0;
    this.#madeCount = 0;
    this.#from = 0;
    this.#to = 0;
  }

  #keep(samples: Int16Array): void {
    const kept = this.#sampleCount - this.#firstSample;
    if (kept + samples.length > this.#samples.length) {
      const needed = Math.max(0, this.#madeCount * shiftSamples - leadSamples);
      // One additional window is kept, to be mirrored at the end.
      const first = Math.max(this.#firstSample, needed - windowSamples);
      this.#samples.copyWithin(0, first - this.#firstSample, kept);
      this.#firstSample = first;
    }
    const offset = this.#sampleCount - this.#firstSample;
    for (let index = 0; index < samples.length; index++) {
      this.#samples[offset + index] = (samples[index] ?? 0) / fullScale;
    }
    this.#sampleCount += samples.length;
  }

  /** Creates frames until there are `count`. */
  #make(count: number): void {
    for (; this.#madeCount < count; this.#madeCount++) {
      this.#takeWindow(this.#madeCount * shiftSamples - leadSamples);
      this.#spectrum.write(this.#frame, this.#powers);
      this.#makeRoom(this.binCount);
      this.#filters.write(this.#powers, this.#values, this.#to);
      this.#to += this.binCount;
    }
  }

  /**
   * Prepares the window that begins at sample `start` of the utterance: removes the mean, applies
   * pre-emphasis, and multiplies by the window function.
   */
  #takeWindow(start: number): void {
    const frame = this.#frame;
    const samples = this.#samples;
    const from = start - this.#firstSample;
    const isWhole = start >= 0 && start + windowSamples <= this.#sampleCount;
    let values = samples;
    let at = from;
    if (!isWhole) {
      for (let index = 0; index < windowSamples; index++) {
        this.#edge[index] = samples[this.#mirrored(start + index)] ?? 0;
      }
      values = this.#edge;
      at = 0;
    }
    // Sums of samples are exact in any order; four of them do not wait for one another.
    let [sum0, sum1, sum2, sum3] = [0, 0, 0, 0];
    for (let index = at; index < at + windowSamples; index += 4) {
      sum0 += values[index] ?? 0;
      sum1 += values[index + 1] ?? 0;
      sum2 += values[index + 2] ?? 0;
      sum3 += values[index + 3] ?? 0;
    }
    const mean = (sum0 + sum1 + sum2 + sum3) / windowSamples;
    // The first sample counts as its own predecessor.
    let before = (values[at] ?? 0) - mean;
    for (let index = 0; index < windowSamples; index++) {
      const sample = (values[at + index] ?? 0) - mean;
      frame[index] = (sample - preemphasis * before) * (window[index] ?? 0);
      before = sample;
    }
  }

  /** The index of a sample; a sample outside the utterance is mirrored at its nearest end. */
  #mirrored(sample: number): number {
    const count = this.#sampleCount;
    let at = sample;
    while (at < 0 || at >= count) at = at < 0 ? -at - 1 : 2 * count - 1 - at;
    return at - this.#firstSample;
  }

  #makeRoom(length: number): void {
    if (this.#to + length <= this.#values.length) return;
    const held = this.#to - this.#from;
    // Dropped frames leave space at the front; a whole recording needs more memory.
    const isCrowded = 2 * (held + length) > this.#values.length;
    const values = isCrowded ? new Float32Array(4 * (held + length)) : this.#values;
    values.set(this.#values.subarray(this.#from, this.#to));
    this.#values = values;
    this.#from = 0;
    this.#to = held;
  }
}
