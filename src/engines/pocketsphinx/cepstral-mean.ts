import { type Cepstra, cepstrumLength } from "./cepstra.ts";

// The mean of the cepstra represents the microphone and the voice. When it is subtracted from each
// frame before the search, the words remain (cepstral mean normalization). It is computed here and
// not by the decoder, so that no decoder carries the mean of one client over to the next.

/** The share of the range from quiet to loud above which the power of a frame counts as speech. */
const speechShare = 0.3;
/**
 * The maximum share of a mean that silence around speech contributes, because the model was trained
 * with a little of it.
 */
const silenceShareMax = 0.15;
/**
 * The power below which frames are digital silence, which no room has. Such frames are so far from
 * other frames that a few of them spoil a mean.
 */
const powerMin = 0;
/** The number of the loudest frames that may be a click. */
const clickFrames = 5;
/**
 * The minimum power range of audio with speech; audio with a smaller range is silence or noise.
 */
const speechRangeMin = 25;
/**
 * The standard deviation of each coefficient within an utterance, measured over the voices and
 * recordings of bench/RESULTS.md.
 */
const deviations = [
  29.6, 18.4, 14.5, 20.1, 18.1, 13.2, 14.9, 14.5, 13.4, 12.7, 10.7, 10, 10.6,
] as const;

/**
 * Computes the mean of an utterance from its speech, and from as much of the silence around it as
 * ordinary recordings have.
 */
export function utteranceMean(cepstra: Cepstra, count = cepstra.count): Float64Array {
  const frames = Array.from({ length: count }, (_, index) => index);
  const real = frames.filter((index) => cepstra.power(index) > powerMin);
  const used = real.length > 0 ? real : frames;
  const powers = Float32Array.from(used, (index) => cepstra.power(index)).toSorted();
  // The quietest and the loudest tenth of the frames may be gaps or clicks.
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
  const all = speech.count + scale * silence.count;
  return speech.sum.map((value, index) => (value + scale * (silence.sum[index] ?? 0)) / all);
}

/** Returns how many of the first `count` frames contain speech, judged by these frames only. */
export function speechFrames(cepstra: Cepstra, count: number): number {
  const powers = Float32Array.from({ length: count }, (_, index) => cepstra.power(index))
    .filter((power) => power > powerMin)
    .toSorted();
  const quiet = powers[Math.floor(powers.length * 0.1)] ?? 0;
  const loud = powers.at(-clickFrames) ?? quiet;
  if (loud - quiet < speechRangeMin) return 0;
  return powers.filter((power) => power > quiet + speechShare * (loud - quiet)).length;
}

/**
 * The distance between two means: the root mean square of their differences, in standard deviations
 * of speech.
 */
export function meanDistance(one: Float64Array, other: Float64Array): number {
  const squares = one.map((value, index) => {
    return ((value - (other[index] ?? 0)) / (deviations[index] ?? 1)) ** 2;
  });
  return Math.sqrt(squares.reduce((sum, square) => sum + square, 0) / squares.length);
}

/** The point at `share` of the way from one mean to the other. */
export function meanBetween(one: Float64Array, other: Float64Array, share: number): Float64Array {
  return one.map((value, index) => value + share * ((other[index] ?? 0) - value));
}

function sumOf(cepstra: Cepstra, frames: readonly number[]) {
  const sum = new Float64Array(cepstrumLength);
  for (const index of frames) addTo(sum, cepstra.frame(index));
  return { sum, count: frames.length };
}

function addTo(sum: Float64Array, frame: Float32Array): void {
  for (const [index, value] of frame.entries()) sum[index] = (sum[index] ?? 0) + value;
}
