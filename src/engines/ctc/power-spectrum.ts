/**
 * Computes power spectra of real frames with a fixed length, which is twice a power of four. The
 * frame is transformed by a complex FFT of half its length, with even samples as the real part and
 * odd samples as the imaginary part. The two spectra are separated afterwards.
 */
export class PowerSpectrum {
  readonly #half: number;
  /** The even sample for each place: the base-4 digits of the place in reverse order, twice. */
  readonly #sources: Uint16Array;
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
    this.#sources = Uint16Array.from({ length: half }, (_, place) => 2 * reversed(place, digits));
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
    for (let size = 16; size <= this.#half; size *= 4) this.#combine(size);
    this.#separate(powers);
  }

  /** Loads a frame as transforms of four values each, which need no multiplications. */
  #load(frame: Float64Array): void {
    const real = this.#real;
    const imaginary = this.#imaginary;
    const sources = this.#sources;
    for (let at = 0; at < this.#half; at += 4) {
      const from0 = sources[at] ?? 0;
      const from1 = sources[at + 1] ?? 0;
      const from2 = sources[at + 2] ?? 0;
      const from3 = sources[at + 3] ?? 0;
      const evenReal = (frame[from0] ?? 0) + (frame[from2] ?? 0);
      const evenImaginary = (frame[from0 + 1] ?? 0) + (frame[from2 + 1] ?? 0);
      const evenReal2 = (frame[from0] ?? 0) - (frame[from2] ?? 0);
      const evenImaginary2 = (frame[from0 + 1] ?? 0) - (frame[from2 + 1] ?? 0);
      const oddReal = (frame[from1] ?? 0) + (frame[from3] ?? 0);
      const oddImaginary = (frame[from1 + 1] ?? 0) + (frame[from3 + 1] ?? 0);
      const oddReal2 = (frame[from1] ?? 0) - (frame[from3] ?? 0);
      const oddImaginary2 = (frame[from1 + 1] ?? 0) - (frame[from3 + 1] ?? 0);
      real[at] = evenReal + oddReal;
      imaginary[at] = evenImaginary + oddImaginary;
      real[at + 1] = evenReal2 + oddImaginary2;
      imaginary[at + 1] = evenImaginary2 - oddReal2;
      real[at + 2] = evenReal - oddReal;
      imaginary[at + 2] = evenImaginary - oddImaginary;
      real[at + 3] = evenReal2 - oddImaginary2;
      imaginary[at + 3] = evenImaginary2 + oddReal2;
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
    for (let k = 0; 2 * k <= half; k++) {
      const mirror = k === 0 ? 0 : half - k;
      const realA = real[k] ?? 0;
      const imaginaryA = imaginary[k] ?? 0;
      const realB = real[mirror] ?? 0;
      const imaginaryB = imaginary[mirror] ?? 0;
      const cosine = this.#cosine[k] ?? 0;
      const sine = this.#sine[k] ?? 0;
      const evenReal = realA + realB;
      const evenImaginary = imaginaryA - imaginaryB;
      const oddReal = imaginaryA + imaginaryB;
      const oddImaginary = realB - realA;
      const turnedReal = oddReal * cosine - oddImaginary * sine;
      const turnedImaginary = oddReal * sine + oddImaginary * cosine;
      // At the mirrored value, the odd part has the opposite real part, and the even part the
      // opposite imaginary part.
      powers[mirror] = squares(evenReal - turnedReal, turnedImaginary - evenImaginary);
      powers[k] = squares(evenReal + turnedReal, evenImaginary + turnedImaginary);
    }
  }
}

/** Returns the power of a value, which is twice as large as it should be. */
function squares(real: number, imaginary: number): number {
  return (real * real + imaginary * imaginary) / 4;
}

function reversed(value: number, digits: number): number {
  let result = 0;
  for (let digit = 0; digit < digits; digit++) {
    result = result * 4 + ((value >> (2 * digit)) & 3);
  }
  return result;
}
