import type { Hypothesis } from "../protocol/engine.ts";
import type { Cepstra } from "./cepstra.ts";
import { utteranceMean } from "./cepstral-mean.ts";
import type { Search } from "./search.ts";
import type { Searches } from "./search-pool.ts";

/** The number of frames searched in one slice: 100 ms. */
export const searchedFramesMax = 10;

/** Searches a whole utterance, slice by slice, with the utterance's own mean. */
export class WholeSearch {
  readonly #searches: Searches;
  readonly #cepstra: Cepstra;
  readonly #mean: Float64Array;
  #search: Search | undefined;
  #searched = 0;
  #workMs = 0;

  /** The mean is that of the frames so far; frames that are added later are searched too. */
  constructor(searches: Searches, cepstra: Cepstra) {
    this.#searches = searches;
    this.#cepstra = cepstra;
    this.#mean = utteranceMean(cepstra);
  }

  /** The time of all slices. */
  get workMs(): number {
    return this.#workMs;
  }

  /** Searches one slice. Returns false if all frames are searched, or if no search is free. */
  work(): boolean {
    this.#search ??= this.#searches.lend();
    if (!this.#search) return false;
    const startedMs = performance.now();
    const end = Math.min(this.#cepstra.count, this.#searched + searchedFramesMax);
    for (; this.#searched < end; this.#searched++) {
      this.#search.accept(this.#cepstra.frame(this.#searched), this.#mean);
    }
    this.#workMs += performance.now() - startedMs;
    return this.#searched < this.#cepstra.count;
  }

  /** Searches the remaining frames, and returns the readings. */
  *readings(countMax: number): Generator<void | Promise<void>, readonly Hypothesis[], void> {
    try {
      while (this.work() || !this.#search) yield this.#search ? undefined : this.#searches.made;
      const search = this.#search;
      search.end();
      this.#search = undefined;
      try {
        return search.readings(countMax);
      } finally {
        this.#searches.release(search);
      }
    } finally {
      this.drop();
    }
  }

  /** Releases the search before its end. */
  drop(): void {
    if (!this.#search) return;
    this.#search.end();
    this.#searches.release(this.#search);
    this.#search = undefined;
  }
}
