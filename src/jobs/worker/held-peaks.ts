import type { KeepPeaks } from "../../describe/describe-media.ts";

/**
 * Keeps all pieces of a waveform except the last one, which is stored with the facts that end the
 * description.
 */
export class HeldPeaks {
  readonly #keep: KeepPeaks;
  #last: { readonly number: number; readonly peaks: Int8Array } | undefined;

  constructor(keep: KeepPeaks) {
    this.#keep = keep;
  }

  get last(): { readonly number: number; readonly peaks: Int8Array } | undefined {
    return this.#last;
  }

  async keep(number: number, peaks: Int8Array): Promise<void> {
    const before = this.#last;
    this.#last = { number, peaks };
    if (before) await this.#keep(before.number, before.peaks);
  }
}
