import type { Cepstra } from "./cepstra.ts";
import { meanBetween, meanDistance, speechFrames, utteranceMean } from "./cepstral-mean.ts";

/**
 * A mean this far from a better one hears other words: all is heard again with the better one,
 * early where that still costs little. Of 1265 words, and CPU (bench/RESULTS.md): 0.3 for both 158
 * wrong and 10 % more, 0.45 for both 181 wrong and 6 % less.
 */
const distanceMax = { spoken: 0.35, over: 0.42 } as const;
/** The mean of average speech, measured over the voices and recordings of bench/RESULTS.md. */
const average = Float64Array.of(56, 4, 0, 15, -6, 1, -3, -5, -2, -1, 3, 1, 3);
/** To remember a speaker by the first utterance, it counts as much as so many frames of it. */
const averageFrames = 30;
/**
 * What was said before in the same session counts as much as so many frames of the current
 * utterance: less when all of it is there.
 */
const knownFrames = { spoken: 150, over: 75 } as const;
/** Of that, the last 10 s. */
const knownFramesMax = 1000;
/** The mean of another speaker, or microphone, is at least so far from that of the last one. */
const strangerDistanceMin = 0.45;
/** A shorter utterance does not tell one speaker from another. */
const strangerFramesMin = 100;
/**
 * The mean of an unknown speaker is told after so many frames, when there is so much speech in
 * them.
 */
const firstFrames = 100;
const firstSpeechFrames = 40;
/** It is looked at again each time that the utterance is longer by this factor. */
const growth = 1.5;
/** Frames from one look for the first speech to the next. */
const lookFrames = 10;

/**
 * The cepstral mean to hear an utterance with while it is spoken: at first that of the same
 * session's utterances before it, then more and more its own. It changes only when it has become
 * wrong, as all has to be heard again then. It depends on the frames alone, not on the pieces in
 * which they come.
 */
export class SpeakerMean {
  /** Of the session, without the current utterance, and the frames that it was heard in. */
  #known: Float64Array = average;
  #knownCount = 0;
  /**
   * The last utterance was by somebody else than the one before: who knows whose the next one is.
   */
  #isUnsure = true;
  /** Of the current utterance. */
  #mean: Float64Array | undefined;
  #nextLook = firstFrames;

  /** An utterance begins. */
  begin(): void {
    this.#mean = this.#isUnsure ? undefined : this.#known;
    this.#nextLook = firstFrames;
  }

  /** What to take off every frame of the utterance so far; undefined while too little is known. */
  get value(): Float64Array | undefined {
    return this.#mean;
  }

  /** Takes in how the utterance has gone on. */
  look(cepstra: Cepstra): void {
    while (cepstra.count >= this.#nextLook) {
      if (this.#mean || speechFrames(cepstra, this.#nextLook) >= firstSpeechFrames) {
        this.#update(cepstra, this.#nextLook, "spoken");
        this.#nextLook = Math.ceil(this.#nextLook * growth);
      } else this.#nextLook += lookFrames;
    }
  }

  /** The utterance is over, or may be. */
  settle(cepstra: Cepstra): void {
    if (cepstra.count > 0) this.#update(cepstra, cepstra.count, "over");
  }

  /** Remembers the utterance for those after it. */
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

  /** All that it knows between two utterances. */
  save(): readonly number[] {
    return [Number(this.#isUnsure), this.#knownCount, ...this.#known];
  }

  /** Lets a fresh one go on where the saved one stood. */
  restore([isUnsure = 1, count = 0, ...known]: readonly number[]): void {
    this.#isUnsure = isUnsure === 1;
    this.#knownCount = count;
    this.#known = Float64Array.from(known);
  }

  #update(cepstra: Cepstra, count: number, state: "spoken" | "over"): void {
    const own = utteranceMean(cepstra, count);
    const share = this.#isUnsure ? 1 : count / (count + knownFrames[state]);
    const better = meanBetween(this.#known, own, share);
    if (!this.#mean || meanDistance(this.#mean, better) > distanceMax[state]) this.#mean = better;
  }
}
