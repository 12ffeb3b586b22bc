/** Tells speech from silence in a stream of 16 kHz samples. */
export interface VoiceActivity {
  /** Samples looked at together. */
  readonly frameSamples: number;
  /** Speech is told at most this many frames after it began: what came before is still wanted. */
  readonly delayFrames: number;
  /**
   * Frames since it began to learn how quiet it is here: speech found soon after may have begun
   * then.
   */
  readonly learntFrames: number;
  /** Whether this frame, the next in the stream, holds speech. */
  isSpeech(frame: Int16Array): boolean;
  /**
   * All that it has learnt of its stream: another process may have to go on with it
   * (engines/engine-session.ts).
   */
  save(): readonly number[];
  /** Lets a fresh one go on exactly where the saved one stood. */
  restore(saved: readonly number[]): void;
}

/** 10 ms. */
const frameSamples = 160;
/** The pole of a high-pass at about 150 Hz: hum, rumble and offset are no speech. */
const highPassPole = 0.94;
/** The floor is of power smoothed over so many frames. */
const smoothedFrames = 5;
/** Less than one bit of dither: nothing is connected, or it is muted. */
const nothingPowerMax = 1;
/** So much of nothing does not tell how quiet the room is that comes after it. */
const forgetFrames = 25;
/**
 * A floor below this (root mean square 3) is a quiet converter, not a room: its dither must not
 * count.
 */
const floorDbMin = 10;
/** Above the floor: to begin speech, to go on with it. */
const onsetDb = 8;
const holdDb = 5;
/**
 * Below the loudest speech, which is forgotten at so many dB a frame: what is quieter only fades
 * away, whatever the floor.
 */
const fadeDb = 35;
const forgetDb = 0.05;
/** Onset: this many loud frames in so many. */
const onsetFrames = 6;
const onsetWindow = 15;
/**
 * Standard deviation of their smoothed levels: up to 0.5 dB in steady noise and ringing tones, 5 dB
 * in half of speech.
 */
const onsetDeviationDb = 1.1;
/** In what is saved, in the place of a level: none is negative. */
const notLoud = -1;
/** Without a loud frame for this long, speech has to begin anew. */
const releaseFrames = 25;
/**
 * The floor is the least power within the last 12 blocks of 250 ms: longer than anybody speaks
 * without a gap.
 */
const floorBlocks = 12;
const floorBlockFrames = 25;

/**
 * Voice activity by energy over an adaptive noise floor. Steady noise of any level is silence, from
 * its first frame on: what begins must also move. So are hum, clicks, keys, and the tones of
 * telephones.
 */
export class EnergyVoiceActivity implements VoiceActivity {
  readonly frameSamples = frameSamples;
  readonly delayFrames = onsetWindow;

  #lastIn = 0;
  #lastOut = 0;
  /** Of those that tell how quiet it is. */
  #frames = 0;
  /** Frames of nothing, one after another. */
  #nothingFrames = 0;
  /** Power of the last frames, for smoothing. */
  readonly #powers: number[] = [];
  /** Least smoothed power of each block, oldest first; the last one is still filling. */
  readonly #blocks: number[] = [];
  /** The last frames' smoothed levels in dB where they were loud, undefined where not. */
  readonly #recent: (number | undefined)[] = [];
  #framesSinceLoud = 0;
  #isOpen = false;
  /** Level of the loudest speech, lately. */
  #peakDb = 0;

  get learntFrames(): number {
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
    // The frame in which a noise sets in is partly silence, and the next is smoothed with it: they
    // do not tell how the noise moves.
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

  /** Infinity while nothing is known. */
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
