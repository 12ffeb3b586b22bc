import type { Decoder, Hypothesis } from "../protocol/engine.ts";
import { Cepstra } from "./cepstra.ts";
import type { FrontEnd } from "./front-end.ts";
import type { Search } from "./search.ts";
import type { SearchPool } from "./search-pool.ts";
import { SpeakerMean } from "./speaker-mean.ts";

/** The number of frames searched in one slice: 100 ms. */
export const searchedFramesMax = 10;
/** The number of frames searched per millisecond. Measured: a frame takes 1.1 ms of CPU time. */
const framesPerMs = 0.9;
/** The maximum time for which a final result may wait for a second pass. */
const secondPassMsMax = 150;

/**
 * Decodes an utterance while it is spoken, in one search that subtracts the same mean from every
 * frame. When that mean has become wrong, the search restarts at the beginning of the utterance
 * with a better mean. Usually it never restarts, or it restarts early, when this costs little.
 */
export class LiveDecoder implements Decoder {
  readonly #alternativesMax: number;
  readonly #frontEnd: FrontEnd;
  readonly #searches: SearchPool;
  readonly #speaker = new SpeakerMean();
  readonly #cepstra = new Cepstra();
  readonly #expectation: { readonly leave: () => void };
  #search: Search | undefined;
  /** The mean that the search subtracts, and the number of frames that it has searched. */
  #mean: Float64Array | undefined;
  #searched = 0;
  /**
   * The last partial reading, and the number of frames that it covers. The reading is kept until a
   * restarted search has passed those frames.
   */
  #partial: { readonly text: string; readonly reading: Hypothesis | undefined } | undefined;
  #partialFrames = 0;

  constructor(parts: {
    readonly alternativesMax: number;
    readonly frontEnd: FrontEnd;
    readonly searches: SearchPool;
  }) {
    this.#alternativesMax = parts.alternativesMax;
    this.#frontEnd = parts.frontEnd;
    this.#searches = parts.searches;
    this.#expectation = parts.searches.expect();
  }

  begin(): void {
    this.#cepstra.clear();
    this.#speaker.begin();
    this.#frontEnd.begin();
    this.#mean = undefined;
    this.#searched = 0;
    this.#partial = undefined;
    this.#partialFrames = 0;
  }

  accept(samples: Int16Array): void {
    this.#frontEnd.accept(samples, this.#cepstra);
    this.#speaker.update(this.#cepstra);
  }

  pause(msToEnd: number): void {
    this.#finishMean(msToEnd + secondPassMsMax);
  }

  /** Changes to the mean of the entire utterance, if there is time to search all of it again. */
  #finishMean(ms: number): void {
    const isInTime = this.#cepstra.count <= ms * framesPerMs;
    if (isInTime || !this.#speaker.value) this.#speaker.finish(this.#cepstra);
  }

  work(): boolean {
    const mean = this.#speaker.value;
    if (!mean || this.#cepstra.count === 0) return false;
    if (mean !== this.#mean) this.#beginAgain(mean);
    this.#search ??= this.#searches.lend();
    if (!this.#search) return false;
    const end = Math.min(this.#cepstra.count, this.#searched + searchedFramesMax);
    for (; this.#searched < end; this.#searched++) {
      this.#search.accept(this.#cepstra.frame(this.#searched), mean);
    }
    return this.#searched < this.#cepstra.count;
  }

  partial(): Hypothesis | undefined {
    if (!this.#search || this.#searched < this.#partialFrames) return this.#partial?.reading;
    const text = this.#search.partialText();
    if (text !== this.#partial?.text) this.#partial = { text, reading: this.#search.best(false) };
    this.#partialFrames = this.#searched;
    return this.#partial.reading;
  }

  *end(): Generator<void | Promise<void>, readonly Hypothesis[], void> {
    this.#frontEnd.end(this.#cepstra);
    if (this.#cepstra.count === 0) return [];
    this.#finishMean(secondPassMsMax);
    try {
      // The loop also waits while no search is free.
      while (this.work() || !this.#search) yield this.#search ? undefined : this.#searches.made;
      this.#search.end();
      const readings = this.#search.readings(this.#alternativesMax);
      this.#searches.release(this.#search);
      this.#search = undefined;
      return readings;
    } finally {
      this.#drop();
      this.#speaker.end(this.#cepstra);
    }
  }

  #beginAgain(mean: Float64Array): void {
    this.#mean = mean;
    this.#searched = 0;
    this.#search?.end();
    this.#search?.begin();
  }

  #drop(): void {
    if (!this.#search) return;
    this.#search.end();
    this.#searches.release(this.#search);
    this.#search = undefined;
  }

  save(): readonly number[] {
    return this.#speaker.save();
  }

  restore(saved: readonly number[]): void {
    this.#speaker.restore(saved);
  }

  close(): void {
    this.#drop();
    this.#expectation.leave();
    this.#frontEnd.close();
  }
}
