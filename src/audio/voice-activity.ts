/** Tells speech from silence in a stream of 16 kHz samples. */
export interface VoiceActivity {
  /** Samples looked at together. */
  readonly frameSamples: number;
  /** Speech is told at most this many frames after it began: what came before is still wanted. */
  readonly delayFrames: number;
  /** Whether this frame, the next in the stream, holds speech. */
  isSpeech(frame: Int16Array): boolean;
}

/** 10 ms. */
const frameSamples = 160;
/** The pole of a high-pass at about 150 Hz: hum, rumble and offset are no speech. */
const highPassPole = 0.94;
/** A floor below this (root mean square 3) is a quiet converter, not a room: its dither must not count. */
const floorDbMin = 10;
/** Above the floor: to begin speech, to go on with it. */
const onsetDb = 8;
const holdDb = 5;
/** Onset: this many loud frames in so many. */
const onsetFrames = 6;
const onsetWindow = 15;
/** Standard deviation of their levels: 0.6 dB in steady noise, at least 3 dB in speech. */
const onsetDeviationDb = 1.5;
/** Without a loud frame for this long, speech has to begin anew. */
const releaseFrames = 25;
/** The floor is the least power within the last 12 blocks of 250 ms: longer than anybody speaks without a gap. */
const floorBlocks = 12;
const floorBlockFrames = 25;

/**
 * Voice activity by energy over an adaptive noise floor. Steady noise of any level is silence, from its first frame on: what
 * begins must also move.
 */
export class EnergyVoiceActivity implements VoiceActivity {
  readonly frameSamples = frameSamples;
  readonly delayFrames = onsetWindow;

  #lastIn = 0;
  #lastOut = 0;
  #frames = 0;
  /** Power of the last five frames, for smoothing. */
  readonly #powers: number[] = [];
  /** Least smoothed power of each block, oldest first; the last one is still filling. */
  readonly #blocks: number[] = [];
  /** The last frames' levels in dB where they were loud, undefined where not. */
  readonly #recent: (number | undefined)[] = [];
  #framesSinceLoud = 0;
  #isOpen = false;

  isSpeech(frame: Int16Array): boolean {
    const power = this.#highPassedPower(frame);
    this.#powers.push(power);
    if (this.#powers.length > 5) this.#powers.shift();
    const floorDb = this.#floorDb(mean(this.#powers));
    const smoothDb = decibels(mean(this.#powers.slice(-3)));
    if (this.#isOpen) return this.#holds(smoothDb > floorDb + holdDb);
    const db = decibels(power);
    this.#recent.push(db > floorDb + onsetDb ? db : undefined);
    if (this.#recent.length > onsetWindow) this.#recent.shift();
    this.#isOpen = this.#begins();
    if (this.#isOpen) {
      this.#recent.length = 0;
      this.#framesSinceLoud = 0;
    }
    return this.#isOpen;
  }

  #holds(isLoud: boolean): boolean {
    this.#framesSinceLoud = isLoud ? 0 : this.#framesSinceLoud + 1;
    this.#isOpen = this.#framesSinceLoud < releaseFrames;
    return isLoud;
  }

  #begins(): boolean {
    const loud = this.#recent.filter((db) => db !== undefined);
    // The frame in which a noise sets in is partly silence: it says nothing of how the noise moves.
    const levels = this.#recent
      .filter((_, index) => index > 0 && this.#recent[index - 1] !== undefined)
      .filter((db) => db !== undefined);
    return loud.length >= onsetFrames && deviation(levels) >= onsetDeviationDb;
  }

  #floorDb(power: number): number {
    if (this.#frames % floorBlockFrames === 0) this.#blocks.push(power);
    if (this.#blocks.length > floorBlocks) this.#blocks.shift();
    this.#frames += 1;
    const last = this.#blocks.length - 1;
    this.#blocks[last] = Math.min(this.#blocks[last] ?? power, power);
    return Math.max(floorDbMin, decibels(Math.min(...this.#blocks)));
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

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
}

function deviation(values: readonly number[]): number {
  const centre = mean(values);
  return Math.sqrt(mean(values.map((value) => (value - centre) ** 2)));
}

function decibels(power: number): number {
  return 10 * Math.log10(power + 1);
}
