import { type Cepstra, cepstrumLength } from "./cepstra.ts";

// The mean of the cepstra stands for the microphone and the voice; taken off each frame before the search, it leaves the words.
// It is ours and not the decoder's own, so that no decoder carries a caller's mean to the next one.

/** Speech has more power than this share of the way from quiet to loud. */
const speechShare = 0.3;
/** Silence around speech counts for at most this share of a mean: the model was trained with a little of it. */
const silenceShareMax = 0.15;
/** No room is as quiet: digital silence, whose frames lie so far off that a few of them spoil a mean. */
const powerMin = 0;
/** Frames that what was known before counts for: 1.5 s. */
const seedFrames = 150;

/** Of the frames of a whole utterance: of its speech, and of as much of its silence as there is in ordinary recordings. */
export function utteranceMean(cepstra: Cepstra): Float64Array {
  const frames = Array.from({ length: cepstra.count }, (_, index) => index);
  const real = frames.filter((index) => cepstra.power(index) > powerMin);
  const used = real.length > 0 ? real : frames;
  const powers = Float32Array.from(used, (index) => cepstra.power(index)).toSorted();
  // The tenths at either end may be a click or a gap.
  const quiet = powers[Math.floor(powers.length * 0.1)] ?? 0;
  const loud = powers[Math.floor(powers.length * 0.9)] ?? 0;
  const least = quiet + speechShare * (loud - quiet);
  const speech = sumOf(
    cepstra,
    used.filter((index) => cepstra.power(index) >= least),
  );
  const silence = sumOf(
    cepstra,
    used.filter((index) => cepstra.power(index) < least),
  );
  const silenceMax = (silenceShareMax / (1 - silenceShareMax)) * speech.count;
  const scale = silence.count > silenceMax ? silenceMax / silence.count : 1;
  const count = speech.count + scale * silence.count;
  return speech.sum.map((value, index) => (value + scale * (silence.sum[index] ?? 0)) / count);
}

function sumOf(cepstra: Cepstra, frames: readonly number[]) {
  const sum = new Float64Array(cepstrumLength);
  for (const index of frames) addTo(sum, cepstra.frame(index));
  return { sum, count: frames.length };
}

/** Of the speech heard so far, beginning with what was known before. */
export class RunningMean {
  readonly #sum: Float64Array;
  readonly #value: Float64Array;
  #count = seedFrames;
  #quiet = Infinity;
  #loud = -Infinity;

  constructor(seed: Float64Array) {
    this.#sum = seed.map((value) => value * seedFrames);
    this.#value = seed.slice();
  }

  add(frame: Float32Array): void {
    const power = frame[0] ?? 0;
    if (power <= powerMin) return;
    this.#quiet = Math.min(this.#quiet, power);
    this.#loud = Math.max(this.#loud, power);
    if (power <= this.#quiet + speechShare * (this.#loud - this.#quiet)) return;
    addTo(this.#sum, frame);
    this.#count += 1;
    for (const [index, sum] of this.#sum.entries()) this.#value[index] = sum / this.#count;
  }

  /** Changes with the next add(). */
  value(): Float64Array {
    return this.#value;
  }
}

function addTo(sum: Float64Array, frame: Float32Array): void {
  for (const [index, value] of frame.entries()) sum[index] = (sum[index] ?? 0) + value;
}
