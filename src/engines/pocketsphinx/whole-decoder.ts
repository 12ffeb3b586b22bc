import type { Decoder, Hypothesis } from "../protocol/engine.ts";
import { Cepstra } from "./cepstra.ts";
import { utteranceMean } from "./cepstral-mean.ts";
import type { FrontEnd } from "./front-end.ts";
import { searchedFramesMax } from "./live-decoder.ts";
import type { Searches } from "./search-pool.ts";

/**
 * Decodes an utterance when it has ended, with the utterance's own mean. It is used for short
 * recordings and jobs.
 */
export class WholeDecoder implements Decoder {
  readonly #alternativesMax: number;
  readonly #frontEnd: FrontEnd;
  readonly #searches: Searches;
  readonly #cepstra = new Cepstra();

  constructor(parts: {
    readonly alternativesMax: number;
    readonly frontEnd: FrontEnd;
    readonly searches: Searches;
  }) {
    this.#alternativesMax = parts.alternativesMax;
    this.#frontEnd = parts.frontEnd;
    this.#searches = parts.searches;
  }

  begin(): void {
    this.#cepstra.clear();
    this.#frontEnd.begin();
  }

  accept(samples: Int16Array): void {
    this.#frontEnd.accept(samples, this.#cepstra);
  }

  pause(): void {}

  work(): boolean {
    return false;
  }

  partial(): undefined {}

  *end(): Generator<void | Promise<void>, readonly Hypothesis[], void> {
    this.#frontEnd.end(this.#cepstra);
    if (this.#cepstra.count === 0) return [];
    const mean = utteranceMean(this.#cepstra);
    let search = this.#searches.lend();
    for (; !search; search = this.#searches.lend()) yield this.#searches.made;
    let isEnded = false;
    try {
      for (let at = 0; at < this.#cepstra.count; at++) {
        search.accept(this.#cepstra.frame(at), mean);
        if (at % searchedFramesMax === searchedFramesMax - 1) yield;
      }
      search.end();
      isEnded = true;
      return search.readings(this.#alternativesMax);
    } finally {
      if (!isEnded) search.end();
      this.#searches.release(search);
    }
  }

  save(): readonly number[] {
    return [];
  }

  restore(): void {}

  close(): void {
    this.#frontEnd.close();
  }
}
