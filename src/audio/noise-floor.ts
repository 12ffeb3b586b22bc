import type { SavedNumbers } from "./saved-numbers.ts";

/** The pole of a high-pass filter at about 150 Hz, against hum, rumble and offset. */
const highPassPole = 0.94;
/** The number of frames over which power is smoothed to compute the noise floor. */
const smoothedFrames = 5;
/** Power below this is less than one bit of dither: the input is not connected, or is muted. */
const nothingPowerMax = 1;
/**
 * After this many frames with such low power the noise floor is forgotten, since it was not that of
 * the room.
 */
const forgetFrames = 25;
/**
 * The lowest noise floor (a root mean square of 3). Below this level there is only the dither of a
 * converter.
 */
const floorDbMin = 10;
/**
 * The noise floor is the minimum power within the last 12 blocks of 250 ms: speech has a gap in
 * that time.
 */
const floorBlocks = 12;
const floorBlockFrames = 25;

/** The levels of a frame in dB, without hum and rumble. */
export interface FrameLevels {
  readonly db: number;
  /** Smoothed over 30 ms. */
  readonly smoothDb: number;
  /** The noise floor, or Infinity while it is unknown. */
  readonly floorDb: number;
}

/** Learns the noise floor of a stream from its frames of 10 ms. */
export class NoiseFloor {
  #lastIn = 0;
  #lastOut = 0;
  /** The number of frames from which the noise floor is computed. */
  #frames = 0;
  /** The number of consecutive frames without a signal. */
  #nothingFrames = 0;
  /** The powers of the last frames, for smoothing. */
  readonly #powers: number[] = [];
  /** The minimum smoothed power of each block, oldest first; the last block is not complete. */
  readonly #blocks: number[] = [];

  /** The number of frames since it began to learn. */
  get learnedFrames(): number {
    return this.#frames + smoothedFrames;
  }

  /** Learns from the next frame. The floor is not forgotten within speech. */
  push(frame: Int16Array, isWithinSpeech: boolean): FrameLevels {
    const power = this.#highPassedPower(frame);
    this.#powers.push(power);
    if (this.#powers.length > smoothedFrames) this.#powers.shift();
    this.#learn(power, isWithinSpeech);
    return {
      db: decibels(power),
      smoothDb: decibels(mean(this.#powers.slice(-3))),
      floorDb: Math.max(floorDbMin, decibels(Math.min(...this.#blocks))),
    };
  }

  save(): readonly number[] {
    return [
      this.#lastIn,
      this.#lastOut,
      this.#frames,
      this.#nothingFrames,
      ...[this.#powers, this.#blocks].flatMap((list) => [list.length, ...list]),
    ];
  }

  /** Restores a saved state in a new instance, from the next numbers of a saved one. */
  restore(saved: SavedNumbers): void {
    this.#lastIn = saved.next();
    this.#lastOut = saved.next();
    this.#frames = saved.next();
    this.#nothingFrames = saved.next();
    this.#powers.push(...saved.list());
    this.#blocks.push(...saved.list());
  }

  #learn(power: number, isWithinSpeech: boolean): void {
    this.#nothingFrames = power < nothingPowerMax ? this.#nothingFrames + 1 : 0;
    if (this.#nothingFrames >= forgetFrames && !isWithinSpeech) {
      this.#blocks.length = 0;
      this.#frames = 0;
    }
    if (this.#frames === 0 && this.#powers.some((each) => each < nothingPowerMax)) return;
    const smooth = mean(this.#powers);
    if (this.#frames % floorBlockFrames === 0) this.#blocks.push(smooth);
    if (this.#blocks.length > floorBlocks) this.#blocks.shift();
    this.#frames += 1;
    const last = this.#blocks.length - 1;
    this.#blocks[last] = Math.min(this.#blocks[last] ?? smooth, smooth);
  }

  #highPassedPower(frame: Int16Array): number {
    let sum = 0;
    let [lastIn, lastOut] = [this.#lastIn, this.#lastOut];
    for (const sample of frame) {
      lastOut = sample - lastIn + highPassPole * lastOut;
      lastIn = sample;
      sum += lastOut * lastOut;
    }
    this.#lastIn = lastIn;
    this.#lastOut = lastOut;
    return sum / frame.length;
  }
}

export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
}

function decibels(power: number): number {
  return 10 * Math.log10(power + 1);
}
