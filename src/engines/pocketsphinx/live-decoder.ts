import type { Decoder, Effort, FullWork, Hypothesis } from "../protocol/engine.ts";
import { Cepstra, frameMs } from "./cepstra.ts";
import type { FrontEnd } from "./front-end.ts";
import type { Search } from "./search.ts";
import type { Searches, SearchPool } from "./search-pool.ts";
import { SpeakerMean } from "./speaker-mean.ts";
import { searchedFramesMax, WholeSearch } from "./whole-search.ts";

/** The number of frames searched per millisecond. Measured: a frame takes 1.1 ms of CPU time. */
const framesPerMs = 0.9;
/** The maximum time for which a final result may wait for a second pass. */
const secondPassMsMax = 150;

/**
 * The maximum length of an utterance that is searched again with full effort, in frames: 6 s. At
 * 0.7 frames per millisecond, the final result then waits 0.5 s after the silence that ends the
 * utterance, or 0.9 s if the utterance ends without silence.
 */
const fullFramesMax = 600;

/**
 * Decodes an utterance while it is spoken, in one search that subtracts the same mean from every
 * frame. When that mean has become wrong, the search restarts at the beginning of the utterance
 * with a better mean. Usually it never restarts, or it restarts early, when this costs little.
 *
 * With full effort, the final result comes from a second search with wider beams and the
 * utterance's own mean, as in a short recording. It is done in the silence that ends the utterance,
 * if the utterance is not too long for that.
 */
export class LiveDecoder implements Decoder {
  readonly #alternativesMax: number;
  readonly #frontEnd: FrontEnd;
  readonly #searches: SearchPool;
  readonly #wholeSearches: Searches;
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
  /** The effort that was requested for the utterance, and that of the last final result. */
  #wanted: Effort = "quick";
  #effort: Effort = "quick";
  /** The second search. It is dropped if speech continues after a pause. */
  #second: WholeSearch | undefined;
  /** The work of earlier second searches. */
  #fullWork: FullWork = { workMs: 0, audioSeconds: 0 };

  constructor(parts: {
    readonly alternativesMax: number;
    readonly frontEnd: FrontEnd;
    readonly searches: SearchPool;
    readonly wholeSearches: Searches;
  }) {
    this.#alternativesMax = parts.alternativesMax;
    this.#frontEnd = parts.frontEnd;
    this.#searches = parts.searches;
    this.#wholeSearches = parts.wholeSearches;
    this.#expectation = parts.searches.expect();
  }

  get effort(): Effort {
    return this.#effort;
  }

  get fullWork(): FullWork {
    const { workMs, audioSeconds } = this.#fullWork;
    return { workMs: workMs + (this.#second?.workMs ?? 0), audioSeconds };
  }

  begin(effort: Effort = "quick"): void {
    this.#wanted = effort;
    if (effort === "full") this.#wholeSearches.prepare();
    this.#cepstra.clear();
    this.#speaker.begin();
    this.#frontEnd.begin();
    this.#mean = undefined;
    this.#searched = 0;
    this.#partial = undefined;
    this.#partialFrames = 0;
  }

  accept(samples: Int16Array): void {
    this.#dropSecond();
    this.#frontEnd.accept(samples, this.#cepstra);
    this.#speaker.update(this.#cepstra);
  }

  pause(msToEnd: number): void {
    this.#beginSecond();
    if (!this.#second) this.#finishMean(msToEnd + secondPassMsMax);
  }

  /**
   * Begins the second search if the final result would not wait too long for it. The decision
   * depends only on the audio, so that a replay decides the same.
   */
  #beginSecond(): void {
    const { count } = this.#cepstra;
    if (this.#wanted !== "full" || count === 0 || count > fullFramesMax) return;
    this.#second ??= new WholeSearch(this.#wholeSearches, this.#cepstra);
  }

  prepareEnd(): boolean {
    return this.#second?.work() ?? false;
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
    this.#beginSecond();
    this.#effort = this.#second ? "full" : "quick";
    if (!this.#second) this.#finishMean(secondPassMsMax);
    try {
      if (this.#second) {
        // The first search has served the interim results.
        this.#drop();
        const readings = yield* this.#second.readings(this.#alternativesMax);
        this.#endSecond(this.#cepstra.count);
        return readings;
      }
      // The loop also waits while no search is free.
      while (this.work() || !this.#search) yield this.#search ? undefined : this.#searches.made;
      this.#search.end();
      const readings = this.#search.readings(this.#alternativesMax);
      this.#searches.release(this.#search);
      this.#search = undefined;
      return readings;
    } finally {
      this.#dropSecond();
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

  #dropSecond(): void {
    this.#second?.drop();
    this.#endSecond(0);
  }

  /** Counts the work of the second search, and the frames for which it gave a result. */
  #endSecond(frames: number): void {
    if (!this.#second) return;
    const { workMs, audioSeconds } = this.fullWork;
    this.#fullWork = { workMs, audioSeconds: audioSeconds + (frames * frameMs) / 1000 };
    this.#second = undefined;
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
    this.#dropSecond();
    this.#drop();
    this.#expectation.leave();
    this.#frontEnd.close();
  }
}
