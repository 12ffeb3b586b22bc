import { type Cepstra, cepstrumLength } from "./cepstra.ts";
import type { Pointer, SphinxLibrary, ViewFloats } from "./sphinx-library.ts";

/**
 * PocketSphinx's own front end without its decoder. It converts samples to cepstra, removes noise
 * and drops no frame, so that word times are correct across any pause.
 */
export class FrontEnd {
  readonly #library: SphinxLibrary;
  readonly #viewFloats: ViewFloats;
  readonly #frontEnd: Pointer;

  constructor(library: SphinxLibrary, viewFloats: ViewFloats, config: Pointer) {
    this.#library = library;
    this.#viewFloats = viewFloats;
    const frontEnd = library.fe_init_auto_r(config);
    if (frontEnd === null) throw new Error("PocketSphinx: the front end cannot be made");
    this.#frontEnd = frontEnd;
  }

  /** Begins an utterance, and discards what was learned about the noise. */
  begin(): void {
    this.#library.fe_start_stream(this.#frontEnd);
    this.#library.fe_start_utt(this.#frontEnd);
  }

  /** Appends the frames that these samples complete. */
  accept(samples: Int16Array, cepstra: Cepstra): void {
    if (samples.length === 0) return;
    const block: [Pointer | null] = [null];
    const frames: [number] = [0];
    this.#library.fe_process_utt(this.#frontEnd, samples, samples.length, block, frames);
    if (block[0] === null) throw new Error("PocketSphinx: the front end failed");
    if (frames[0] > 0) cepstra.append(this.#viewFloats(block[0], frames[0] * cepstrumLength));
    this.#library.fe_free_2d(block[0]);
  }

  /** Appends the last frame, which is computed from the remaining samples. */
  end(cepstra: Cepstra): void {
    const frame = new Float32Array(cepstrumLength);
    const frames: [number] = [0];
    this.#library.fe_end_utt(this.#frontEnd, frame, frames);
    if (frames[0] > 0) cepstra.append(frame);
  }

  close(): void {
    this.#library.fe_free(this.#frontEnd);
  }
}
