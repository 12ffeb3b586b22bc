import type { Cepstra } from "./cepstra.ts";
import { meanBetween, meanDistance, speechFrames, utteranceMean } from "./cepstral-mean.ts";

/**
 * If the mean is this far from a better one, other words are recognized, so the utterance is
 * searched again with the better one. The limit is lower while the utterance is spoken, since
 * searching again costs little then. Measured with 1265 words (bench/RESULTS.md): with 0.3 for
 * both, 158 words are wrong for 10 % more CPU time; with 0.45 for both, 181 are wrong for 6 % less.
 */
const distanceMax = { spoken: 0.35, over: 0.42 } as const;
/** The mean of average speech, measured over the voices and recordings of bench/RESULTS.md. */
const average = Float64Array.of(56, 4, 0, 15, -6, 1, -3, -5, -2, -1, 3, 1, 3);
/** The average counts like this many frames next to a speaker's first utterance. */
const averageFrames = 30;
/**
 * Earlier utterances of the session count like this many frames of the current one: fewer when the
 * current one is complete.
 */
const knownFrames = { spoken: 150, over: 75 } as const;
/** Earlier utterances count for at most their last 10 s. */
const knownFramesMax = 1000;
/** The mean of another speaker, or microphone, is at least this far from that of the last one. */
const strangerDistanceMin = 0.45;
/** A shorter utterance is not enough to distinguish speakers. */
const strangerFramesMin = 100;
/** An unknown speaker has a mean after this many frames, if this many of them are speech. */
const firstFrames = 100;
const firstSpeechFrames = 40;
/** The mean is checked again each time that the utterance is longer by this factor. */
const growth = 1.5;
/** Frames between two checks for the first speech. */
const checkFrames = 10;

/**
 * The cepstral mean for an utterance while it is spoken: at first that of the session's earlier
 * utterances, then more and more its own. It changes only when it has become wrong, since the
 * utterance is searched again then. It depends on the frames alone, not on the chunks in which they
 * come.
 */
export class SpeakerMean {
  /** The mean of the session without the current utterance, and the frames that it is made of. */
  #known: Float64Array = average;
  #knownCount = 0;
  /** Whether the last two utterances had different speakers: the next one may be of either. */
  #isUnsure = true;
  /** The mean of the current utterance. */
  #mean: Float64Array | undefined;
  #nextCheck = firstFrames;

  /** An utterance begins. */
  begin(): void {
    this.#mean = this.#isUnsure ? undefined : this.#known;
    this.#nextCheck = firstFrames;
  }

  /** The mean to subtract from every frame so far; undefined while too little is known. */
  get value(): Float64Array | undefined {
    return this.#mean;
  }

  /** Takes the new frames of the utterance into account. */
  update(cepstra: Cepstra): void {
    while (cepstra.count >= this.#nextCheck) {
      if (this.#mean || speechFrames(cepstra, this.#nextCheck) >= firstSpeechFrames) {
        this.#improve(cepstra, this.#nextCheck, "spoken");
        this.#nextCheck = Math.ceil(this.#nextCheck * growth);
      } else this.#nextCheck += checkFrames;
    }
  }

  /** To be called when the utterance has ended, or may have ended. */
  finish(cepstra: Cepstra): void {
    if (cepstra.count > 0) this.#improve(cepstra, cepstra.count, "over");
  }

  /** Ends the utterance, and remembers it for those after it. */
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

  /** Puts a new instance into a saved state. */
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
