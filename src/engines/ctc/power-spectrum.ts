/**
 * Computes power spectra of real frames with a fixed length, which is twice a power of four. The
 * frame is transformed by a complex FFT of half its length, with even samples as the real part and
 * odd samples as the imaginary part. The two spectra are separated afterwards.
 */
export class PowerSpectrum {
  readonly #half: number;
  /** The place of each sample: the base-4 digits of its index in reverse order. */
  readonly #places: Uint16Array;
  readonly #real: Float64Array;
  readonly #imaginary: Float64Array;
  /** The real parts of e^(-2 pi i k / length). */
  readonly #cosine: Float64Array;
  readonly #sine: Float64Array;

  constructor(length: number) {
    const half = length / 2;
    const digits = Math.log2(half) / 2;
    if (!Number.isInteger(digits)) throw new Error(`${length} is not twice a power of four`);
    this.#half = half;
    this.#places = Uint16Array.from({ length: half }, (_, index) => reversed(index, digits));
    this.#real = new Float64Array(half);
    this.#imaginary = new Float64Array(half);
    const angle = (2 * Math.PI) / length;
    this.#cosine = Float64Array.from({ length }, (_, k) => Math.cos(angle * k));
    this.#sine = Float64Array.from({ length }, (_, k) => -Math.sin(angle * k));
  }

  /**
   * Writes |X(k)|^2 for k from 0 to half the length, exclusive, because the filters do not use the
   * last value.
   */
  write(frame: Float64Array, powers: Float64Array): void {
    this.#load(frame);
    for (let size = 4; size <= this.#half; size *= 4) this.#combine(size);
    this.#separate(powers);
  }

  #load(frame: Float64Array): void {
    const real = this.#real;
    const imaginary = this.#imaginary;
    for (let index = 0; index < this.#half; index++) {
      const place = this.#places[index] ?? 0;
      real[place] = frame[2 * index] ?? 0;
      imaginary[place] = frame[2 * index + 1] ?? 0;
    }
  }

  /** Combines four transforms, each a quarter of `size` long. */
  #combine(size: number): void {
    const real = this.#real;
    const imaginary = this.#imaginary;
    const half = this.#half;
    const quarter = size / 4;
    const stride = (2 * half) / size;
    for (let k = 0; k < quarter; k++) {
      const cosine1 = this.#cosine[k * stride] ?? 0;
      const sine1 = this.#sine[k * stride] ?? 0;
      const cosine2 = this.#cosine[2 * k * stride] ?? 0;
      const sine2 = this.#sine[2 * k * stride] ?? 0;
      const cosine3 = this.#cosine[3 * k * stride] ?? 0;
      const sine3 = this.#sine[3 * k * stride] ?? 0;
      for (let at0 = k; at0 < half; at0 += size) {
        const at1 = at0 + quarter;
        const at2 = at1 + quarter;
        const at3 = at2 + quarter;
        const real0 = real[at0] ?? 0;
        const imaginary0 = imaginary[at0] ?? 0;
        const real1 = (real[at1] ?? 0) * cosine1 - (imaginary[at1] ?? 0) * sine1;
        const imaginary1 = (real[at1] ?? 0) * sine1 + (imaginary[at1] ?? 0) * cosine1;
        const real2 = (real[at2] ?? 0) * cosine2 - (imaginary[at2] ?? 0) * sine2;
        const imaginary2 = (real[at2] ?? 0) * sine2 + (imaginary[at2] ?? 0) * cosine2;
        const real3 = (real[at3] ?? 0) * cosine3 - (imaginary[at3] ?? 0) * sine3;
        const imaginary3 = (real[at3] ?? 0) * sine3 + (imaginary[at3] ?? 0) * cosine3;
        const evenReal = real0 + real2;
        const evenImaginary = imaginary0 + imaginary2;
        const oddReal = real1 + real3;
        const oddImaginary = imaginary1 + imaginary3;
        real[at0] = evenReal + oddReal;
        imaginary[at0] = evenImaginary + oddImaginary;
        real[at2] = evenReal - oddReal;
        imaginary[at2] = evenImaginary - oddImaginary;
        real[at1] = real0 - real2 + (imaginary1 - imaginary3);
        imaginary[at1] = imaginary0 - imaginary2 - (real1 - real3);
        real[at3] = real0 - real2 - (imaginary1 - imaginary3);
        imaginary[at3] = imaginary0 - imaginary2 + (real1 - real3);
      }
    }
  }

  /**
   * Separates the spectra of even and odd samples, which are conjugate symmetric: they are the sum
   * and the difference of mirrored values.
   */
  #separate(powers: Float64Array): void {
    const real = this.#real;
    const imaginary = this.#imaginary;
    const half = this.#half;
    for (let k = 0; k < half; k++) {
      const mirror = k === 0 ? 0 : half - k;
      const realA = real[k] ?? 0;
      const imaginaryA = imaginary[k] ?? 0;
      const realB = real[mirror] ?? 0;
      const imaginaryB = imaginary[mirror] ?? 0;
      const cosine = this.#cosine[k] ?? 0;
      const sine = this.#sine[k] ?? 0;
      const oddReal = imaginaryA + imaginaryB;
      const oddImaginary = realB - realA;
      const sumReal = realA + realB + oddReal * cosine - oddImaginary * sine;
      const sumImaginary = imaginaryA - imaginaryB + oddReal * sine + oddImaginary * cosine;
      powers[k] = (sumReal * sumReal + sumImaginary * sumImaginary) / 4;
    }
  }
}

function reversed(value: number, digits: number): number {
  let result = 0;
  for (let digit = 0; digit < digits; digit++) {
    result = result * 4 + ((value >> (2 * digit)) & 3);
  }
  return result;
}
