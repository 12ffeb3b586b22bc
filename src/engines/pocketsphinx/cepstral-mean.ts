import { type Cepstra, cepstrumLength } from "./cepstra.ts";

// The mean of the cepstra represents the microphone and the voice; subtracted from each frame
// before the search, it leaves the words (cepstral mean normalization). It is ours and not the
// decoder's own, so that no decoder carries the mean of one client to the next one.

/** Speech has more power than this share of the way from quiet to loud. */
const speechShare = 0.3;
/**
 * Silence around speech counts for at most this share of a mean: the model was trained with a
 * little of it.
 */
const silenceShareMax = 0.15;
/**
 * Frames below this power are digital silence, which no room has. They are so far from other frames
 * that a few of them spoil a mean.
 */
const powerMin = 0;
/** This many of the loudest frames may be a click. */
const clickFrames = 5;
/** The minimum power range of audio with speech; audio with less is silence, or noise. */
const speechRangeMin = 25;
/**
 * Standard deviation of each coefficient within an utterance, measured over the voices and
 * recordings of bench/RESULTS.md.
 */
const deviations = [
  29.6, 18.4, 14.5, 20.1, 18.1, 13.2, 14.9, 14.5, 13.4, 12.7, 10.7, 10, 10.6,
] as const;

/**
 * The mean of an utterance: of its speech, and of as much silence around it as ordinary recordings
 * have.
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

/** How many of the first `count` frames contain speech, judged by these frames alone. */
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
 * The distance of two means: the root mean square of their differences, in standard deviations of
 * speech.
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
