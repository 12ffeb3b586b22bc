import type { Cepstra } from "./cepstra.ts";
import { meanBetween, meanDistance, speechFrames, utteranceMean } from "./cepstral-mean.ts";

/**
 * The distance from a better mean at which other words are recognized, so the utterance is searched
 * again with the better mean. The limit is lower while the utterance is spoken, because searching
 * again costs little then. Measured with 1265 words (bench/RESULTS.md): with 0.3 for both limits,
 * 158 words are wrong for 10 % more CPU time; with 0.45 for both, 181 are wrong for 6 % less.
 */
const distanceMax = { spoken: 0.35, over: 0.42 } as const;
/** The mean of average speech, measured over the voices and recordings of bench/RESULTS.md. */
const average = Float64Array.of(56, 4, 0, 15, -6, 1, -3, -5, -2, -1, 3, 1, 3);
/** The weight of the average relative to a speaker's first utterance, in frames. */
const averageFrames = 30;
/**
 * The weight of the session's earlier utterances relative to the current one, in frames. It is
 * lower when the current utterance is complete.
 */
const knownFrames = { spoken: 150, over: 75 } as const;
/** The maximum weight of earlier utterances, in frames: their last 10 s. */
const knownFramesMax = 1000;
/**
 * The minimum distance between the mean of another speaker or microphone and that of the previous
 * one.
 */
const strangerDistanceMin = 0.45;
/** The minimum length of an utterance that is sufficient to distinguish speakers. */
const strangerFramesMin = 100;
/**
 * The number of frames after which an unknown speaker has a mean, and the number of these frames
 * that must be speech.
 */
const firstFrames = 100;
const firstSpeechFrames = 40;
/** The factor by which the utterance must grow before the mean is checked again. */
const growth = 1.5;
/** The number of frames between two checks for the first speech. */
const checkFrames = 10;

/**
 * The cepstral mean for an utterance while it is spoken. At first it is that of the session's
 * earlier utterances, and then increasingly the utterance's own. It changes only when it has become
 * wrong, because the utterance is then searched again. It depends only on the frames, not on the
 * chunks in which they arrive.
 */
export class SpeakerMean {
  /**
   * The mean of the session without the current utterance, and the number of frames from which it
   * was computed.
   */
  #known: Float64Array = average;
  #knownCount = 0;
  /**
   * Whether the last two utterances had different speakers, so that the next may be from either.
   */
  #isUnsure = true;
  /** The mean of the current utterance. */
  #mean: Float64Array | undefined;
  #nextCheck = firstFrames;

  /** Begins an utterance. */
  begin(): void {
    this.#mean = this.#isUnsure ? undefined : this.#known;
    this.#nextCheck = firstFrames;
  }

  /** The mean to subtract from every frame so far; undefined while too little is known. */
  get value(): Float64Array | undefined {
    return this.#mean;
  }

  /** Updates the mean with the new frames of the utterance. */
  update(cepstra: Cepstra): void {
    while (cepstra.count >= this.#nextCheck) {
      if (this.#mean || speechFrames(cepstra, this.#nextCheck) >= firstSpeechFrames) {
        this.#improve(cepstra, this.#nextCheck, "spoken");
        this.#nextCheck = Math.ceil(this.#nextCheck * growth);
      } else this.#nextCheck += checkFrames;
    }
  }

  /** Updates the mean when the utterance has ended or may have ended. */
  finish(cepstra: Cepstra): void {
    if (cepstra.count > 0) this.#improve(cepstra, cepstra.count, "over");
  }

  /** Ends the utterance, and includes it in the mean for later utterances. */
  end(cepstra: Cepstra): void {
    const { count } = cepstra;
    if (count === 0) return;
    const own = utteranceMean(cepstra);
    const isFirst = this.#knownCount === 0;
    const isFar =
      count >= strangerFramesMin && meanDistance(this.#known, own) > strangerDistanceMin;
    this.#isUnsure = isFar && !isFirst;
    if (isFirst || isFar) {
      this.#known = meanBetween(average, own, count / (count + averageFrames));
      this.#knownCount = count;
      return;
    }
    this.#known = meanBetween(this.#known, own, count / (count + this.#knownCount));
    this.#knownCount = Math.min(knownFramesMax, count + this.#knownCount);
  }

  /** The state between two utterances. */
  save(): readonly number[] {
    return [Number(this.#isUnsure), this.#knownCount, ...this.#known];
  }

  /** Restores a saved state in a new instance. */
  restore([isUnsure = 1, count = 0, ...known]: readonly number[]): void {
    this.#isUnsure = isUnsure === 1;
    this.#knownCount = count;
    this.#known = Float64Array.from(known);
  }

  #improve(cepstra: Cepstra, count: number, state: "spoken" | "over"): void {
    const own = utteranceMean(cepstra, count);
    const share = this.#isUnsure ? 1 : count / (count + knownFrames[state]);
    const better = meanBetween(this.#known, own, share);
    if (!this.#mean || meanDistance(this.#mean, better) > distanceMax[state]) this.#mean = better;
  }
}
