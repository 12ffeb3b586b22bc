import type { Decoder, Hypothesis } from "../protocol/engine.ts";
import { Cepstra } from "./cepstra.ts";
import type { FrontEnd } from "./front-end.ts";
import type { Searches } from "./search-pool.ts";
import { WholeSearch } from "./whole-search.ts";

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
    return yield* new WholeSearch(this.#searches, this.#cepstra).readings(this.#alternativesMax);
  }

  save(): readonly number[] {
    return [];
  }

  restore(): void {}

  close(): void {
    this.#frontEnd.close();
  }
}
