/**
 * The minimum power of a filter, which is FLT_EPSILON as in Kaldi. Its logarithm is the feature of
 * digital silence.
 */
const powerMin = 1.1920928955078125e-7;
export const silenceFeature = Math.log(powerMin);

/**
 * Triangular filters over a power spectrum, spaced evenly on the mel scale; each begins at the
 * center of the previous one and ends at the center of the next.
 */
export class MelFilters {
  readonly #count: number;
  /**
   * For each filter: its first bin, and the index of its first weight. The second array has one
   * additional element, the end of the weights.
   */
  readonly #firsts: Int32Array;
  readonly #starts: Int32Array;
  readonly #weights: Float64Array;

  constructor(
    count: number,
    transformLength: number,
    range: { readonly lowHertz: number; readonly highHertz: number; readonly sampleRate: number },
  ) {
    const [low, high] = [mel(range.lowHertz), mel(range.highHertz)];
    const width = (high - low) / (count + 1);
    const mels = Array.from({ length: transformLength / 2 }, (_, bin) =>
      mel((bin * range.sampleRate) / transformLength),
    );
    this.#count = count;
    this.#firsts = new Int32Array(count);
    this.#starts = new Int32Array(count + 1);
    const weights: number[] = [];
    for (let index = 0; index < count; index++) {
      const [left, right] = [low + index * width, low + (index + 2) * width];
      const first = mels.findIndex((each) => each > left);
      const within = mels.slice(first).filter((each) => each < right);
      weights.push(...within.map((each) => Math.min(each - left, right - each) / width));
      this.#firsts[index] = first;
      this.#starts[index + 1] = weights.length;
    }
    this.#weights = Float64Array.from(weights);
  }

  /** Writes the logarithm of each filter's power. */
  write(powers: Float64Array, features: Float32Array, at: number): void {
    const weights = this.#weights;
    let weight = 0;
    for (let index = 0; index < this.#count; index++) {
      const end = this.#starts[index + 1] ?? 0;
      let bin = this.#firsts[index] ?? 0;
      let power = 0;
      for (; weight < end; weight++) power += (weights[weight] ?? 0) * (powers[bin++] ?? 0);
      features[at + index] = Math.log(power > powerMin ? power : powerMin);
    }
  }
}

function mel(hertz: number): number {
  return 1127 * Math.log(1 + hertz / 700);
}
