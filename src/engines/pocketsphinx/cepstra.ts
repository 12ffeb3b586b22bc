/** The number of coefficients per frame. */
export const cepstrumLength = 13;
/** The time from one frame to the next, in milliseconds. */
export const frameMs = 10;

/** The cepstral frames of one utterance, one every 10 ms, in one growing array. */
export class Cepstra {
  #values = new Float32Array(200 * cepstrumLength);
  #count = 0;

  get count(): number {
    return this.#count;
  }

  /** Returns the frame as a view that is valid until the next append. */
  frame(index: number): Float32Array {
    return this.#values.subarray(index * cepstrumLength, (index + 1) * cepstrumLength);
  }

  append(frames: Float32Array): void {
    const from = this.#count * cepstrumLength;
    if (from + frames.length > this.#values.length) {
      const grown = new Float32Array(2 * (from + frames.length));
      grown.set(this.#values.subarray(0, from));
      this.#values = grown;
    }
    this.#values.set(frames, from);
    this.#count += frames.length / cepstrumLength;
  }

  /** Returns the power of the frame, which is its first coefficient, a logarithm. */
  power(index: number): number {
    return this.#values[index * cepstrumLength] ?? 0;
  }

  clear(): void {
    this.#count = 0;
  }
}
