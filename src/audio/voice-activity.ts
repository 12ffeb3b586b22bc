/** Detects speech in a stream of 16 kHz samples (VAD). */
export interface VoiceActivity {
  /** The number of samples per frame. */
  readonly frameSamples: number;
  /** The maximum number of frames between the start of speech and its detection. */
  readonly delayFrames: number;
  /**
   * The number of frames since the detector began to learn the noise floor. Speech that is found
   * soon after that may have begun at the same time.
   */
  readonly learnedFrames: number;
  /** Returns whether the next frame of the stream contains speech. */
  isSpeech(frame: Int16Array): boolean;
  /**
   * Returns the state that was learned from the stream, so that another process can continue
   * (engines/process/engine-session.ts).
   */
  save(): readonly number[];
  /** Restores a saved state in a new instance. */
  restore(saved: readonly number[]): void;
}

/** A frame is 10 ms. */
const frameSamples = 160;
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
/** The levels above the noise floor at which speech begins and at which it continues. */
const onsetDb = 8;
const holdDb = 5;
/**
 * Audio this far below the loudest speech is considered the echo of that speech, whatever the noise
 * floor. The level of the loudest speech decays by forgetDb per frame.
 */
const fadeDb = 35;
const forgetDb = 0.05;
/** Speech begins with this many loud frames in a window of onsetWindow frames. */
const onsetFrames = 6;
const onsetWindow = 15;
/**
 * The minimum standard deviation of the smoothed levels of these loud frames. Steady noise and
 * ringing tones have up to 0.5 dB; half of all speech has 5 dB.
 */
const onsetDeviationDb = 1.1;
/** Represents an undefined level in a saved state, since no level is negative. */
const notLoud = -1;
/** After this many frames that are not loud, speech must begin again. */
const releaseFrames = 25;
/**
 * The noise floor is the minimum power within the last 12 blocks of 250 ms: speech has a gap in
 * that time.
 */
const floorBlocks = 12;
const floorBlockFrames = 25;

/**
 * Voice activity detection by energy over an adaptive noise floor. Steady noise of any level counts
 * as silence from its first frame on, since speech must begin with changing levels. Hum, clicks,
 * typing and telephone tones count as silence too.
 */
export class EnergyVoiceActivity implements VoiceActivity {
  readonly frameSamples = frameSamples;
  readonly delayFrames = onsetWindow;

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
  /** The smoothed levels of the last frames in dB; undefined for frames that were not loud. */
  readonly #recent: (number | undefined)[] = [];
  #framesSinceLoud = 0;
  #isOpen = false;
  /** The level of the loudest recent speech. */
  #peakDb = 0;

  get learnedFrames(): number {
    return this.#frames + smoothedFrames;
  }

  isSpeech(frame: Int16Array): boolean {
    const power = this.#highPassedPower(frame);
    this.#powers.push(power);
    if (this.#powers.length > smoothedFrames) this.#powers.shift();
    this.#learn(power);
    const floorDb = this.#floorDb();
    const smoothDb = decibels(mean(this.#powers.slice(-3)));
    if (this.#isOpen) return this.#holds(smoothDb, floorDb);
    const db = decibels(power);
    this.#recent.push(db > floorDb + onsetDb ? smoothDb : undefined);
    if (this.#recent.length > onsetWindow) this.#recent.shift();
    this.#isOpen = this.#begins();
    if (this.#isOpen) {
      this.#peakDb = smoothDb;
      this.#recent.length = 0;
      this.#framesSinceLoud = 0;
    }
    return this.#isOpen;
  }

  save(): readonly number[] {
    const recent = this.#recent.map((db) => db ?? notLoud);
    return [
      this.#lastIn,
      this.#lastOut,
      this.#frames,
      this.#nothingFrames,
      this.#framesSinceLoud,
      Number(this.#isOpen),
      this.#peakDb,
      ...[this.#powers, this.#blocks, recent].flatMap((list) => [list.length, ...list]),
    ];
  }

  restore(saved: readonly number[]): void {
    let at = 0;
    const next = () => saved[at++] ?? 0;
    const nextList = () => Array.from({ length: next() }, next);
    this.#lastIn = next();
    this.#lastOut = next();
    this.#frames = next();
    this.#nothingFrames = next();
    this.#framesSinceLoud = next();
    this.#isOpen = next() === 1;
    this.#peakDb = next();
    this.#powers.push(...nextList());
    this.#blocks.push(...nextList());
    this.#recent.push(...nextList().map((db) => (db === notLoud ? undefined : db)));
  }

  #holds(smoothDb: number, floorDb: number): boolean {
    this.#peakDb = Math.max(smoothDb, this.#peakDb - forgetDb);
    const isLoud = smoothDb > Math.max(floorDb + holdDb, this.#peakDb - fadeDb);
    this.#framesSinceLoud = isLoud ? 0 : this.#framesSinceLoud + 1;
    this.#isOpen = this.#framesSinceLoud < releaseFrames;
    return isLoud;
  }

  #begins(): boolean {
    const loud = this.#recent.filter((db) => db !== undefined);
    // The first frame of a noise is partly silence, and the next one is smoothed with it, so these
    // two do not show how the noise changes.
    const isAfterLoud = (index: number) =>
      this.#recent[index - 1] !== undefined && this.#recent[index - 2] !== undefined;
    const levels = this.#recent
      .filter((_, index) => isAfterLoud(index))
      .filter((db) => db !== undefined);
    return loud.length >= onsetFrames && deviation(levels) >= onsetDeviationDb;
  }

  #learn(power: number): void {
    this.#nothingFrames = power < nothingPowerMax ? this.#nothingFrames + 1 : 0;
    if (this.#nothingFrames >= forgetFrames && !this.#isOpen) {
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

  /** Returns the noise floor in dB, or Infinity while it is unknown. */
  #floorDb(): number {
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
  const center = mean(values);
  return Math.sqrt(mean(values.map((value) => (value - center) ** 2)));
}

function decibels(power: number): number {
  return 10 * Math.log10(power + 1);
}
