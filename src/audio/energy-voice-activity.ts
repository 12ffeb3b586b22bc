import { mean, NoiseFloor } from "./noise-floor.ts";
import { SavedNumbers } from "./saved-numbers.ts";
import type { VoiceActivity } from "./voice-activity.ts";

/** A frame is 10 ms. */
const frameSamples = 160;
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
 * Voice activity detection by energy over an adaptive noise floor. Steady noise of any level counts
 * as silence from its first frame on, since speech must begin with changing levels. Hum, clicks,
 * typing and telephone tones count as silence too.
 */
export class EnergyVoiceActivity implements VoiceActivity {
  readonly name = "energy";
  readonly frameSamples = frameSamples;
  readonly delayFrames = onsetWindow;

  readonly #noiseFloor = new NoiseFloor();
  /** The smoothed levels of the last frames in dB; undefined for frames that were not loud. */
  readonly #recent: (number | undefined)[] = [];
  #framesSinceLoud = 0;
  #isOpen = false;
  /** The level of the loudest recent speech. */
  #peakDb = 0;

  get learnedFrames(): number {
    return this.#noiseFloor.learnedFrames;
  }

  isSpeech(frame: Int16Array): boolean {
    const { db, smoothDb, floorDb } = this.#noiseFloor.push(frame, this.#isOpen);
    if (this.#isOpen) return this.#holds(smoothDb, floorDb);
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
    return [
      this.#framesSinceLoud,
      Number(this.#isOpen),
      this.#peakDb,
      this.#recent.length,
      ...this.#recent.map((db) => db ?? notLoud),
      ...this.#noiseFloor.save(),
    ];
  }

  restore(numbers: readonly number[]): void {
    const saved = new SavedNumbers(numbers);
    this.#framesSinceLoud = saved.next();
    this.#isOpen = saved.next() === 1;
    this.#peakDb = saved.next();
    this.#recent.push(...saved.list().map((db) => (db === notLoud ? undefined : db)));
    this.#noiseFloor.restore(saved);
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
}

function deviation(values: readonly number[]): number {
  const center = mean(values);
  return Math.sqrt(mean(values.map((value) => (value - center) ** 2)));
}
