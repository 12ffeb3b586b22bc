import { engineSampleRate } from "../protocol/engine.ts";
import { featureMs } from "./filter-banks.ts";

/** A part of a window, in frames of features. */
export interface Stretch {
  readonly from: number;
  readonly to: number;
}

const frameSamples = (featureMs * engineSampleRate) / 1000;
/** The noise floor is the least power of this many frames in a row. */
const floorFrames = 20;
/** A window with fewer frames may have nothing but sound, so it has no noise floor. */
const windowFramesMin = 200;
/** A noise floor below this power is not that of a room: it is the dither of a converter. */
const floorPowerMin = 9;
/** A frame is quiet if its power is less than this many times the noise floor (3 dB). */
const quietPowers = 2;
/** The quiet frames that are kept before and after other frames, for weak sounds and the model. */
const marginFrames = 20;
/** The minimum number of quiet frames between two stretches. */
const quietFramesMin = 8;

/**
 * Finds the parts of a window that are louder than its noise floor, with a margin. The rest is
 * silence for certain: nothing in it rises over the quietest 200 ms of the window by 3 dB.
 */
export function soundStretches(samples: Int16Array): readonly Stretch[] {
  const powers = framePowers(samples);
  const limit = quietPowers * Math.max(floorPowerMin, noiseFloor(powers));
  const stretches: { from: number; to: number }[] = [];
  for (const [frame, power] of powers.entries()) {
    if (power < limit) continue;
    const from = Math.max(0, frame - marginFrames);
    const to = Math.min(powers.length, frame + 1 + marginFrames);
    const last = stretches.at(-1);
    if (last && from < last.to + quietFramesMin) last.to = to;
    else stretches.push({ from, to });
  }
  return stretches;
}

/** Returns the mean square of the samples of each frame. */
function framePowers(samples: Int16Array): Float64Array {
  const powers = new Float64Array(Math.ceil(samples.length / frameSamples));
  for (let frame = 0; frame < powers.length; frame++) {
    const from = frame * frameSamples;
    const to = Math.min(samples.length, from + frameSamples);
    let sum = 0;
    for (let at = from; at < to; at++) sum += (samples[at] ?? 0) ** 2;
    powers[frame] = sum / (to - from);
  }
  return powers;
}

/** Returns the least mean power of some frames in a row. */
function noiseFloor(powers: Float64Array): number {
  if (powers.length < windowFramesMin) return 0;
  let sum = 0;
  let least = Infinity;
  for (const [frame, power] of powers.entries()) {
    sum += power - (powers[frame - floorFrames] ?? 0);
    if (frame >= floorFrames - 1) least = Math.min(least, sum / floorFrames);
  }
  return least;
}
