/** docs/api.md, Uploads: pixels of a waveform for each second of a recording. */
export const pixelsPerSecond = 20;

/** Pixels of a piece of a waveform: ten minutes. */
const pixelsOfPiece = 600 * pixelsPerSecond;
/** Of a pixel: its least and its greatest sample. */
const valuesOfPixel = 2;

/**
 * Makes the waveform of 16-bit samples, in pieces of ten minutes: for each pixel two signed bytes,
 * its least and its greatest sample divided by 256 and cut towards zero, as audiowaveform does it
 * for 8 bits. However the samples are split, the pieces are the same.
 */
export class WaveformMaker {
  readonly #samplesPerPixel: number;
  #piece = new Int8Array(pixelsOfPiece * valuesOfPixel);
  #filled = 0;
  #inPixel = 0;
  #least = 0;
  #greatest = 0;

  /** `sampleRate`: a multiple of pixelsPerSecond. */
  constructor(sampleRate: number) {
    this.#samplesPerPixel = sampleRate / pixelsPerSecond;
  }

  /** Takes the next samples; the pieces that they complete. */
  push(samples: Int16Array): Int8Array[] {
    const pieces: Int8Array[] = [];
    for (let at = 0; at < samples.length;) {
      const end = Math.min(samples.length, at + this.#samplesPerPixel - this.#inPixel);
      this.#see(samples, at, end);
      at = end;
      if (this.#inPixel === this.#samplesPerPixel) this.#endPixel();
      if (this.#filled === this.#piece.length) pieces.push(this.#endPiece());
    }
    return pieces;
  }

  /** The last piece, if something is left for it; its last pixel may have fewer samples. */
  end(): Int8Array | undefined {
    if (this.#inPixel > 0) this.#endPixel();
    return this.#filled > 0 ? this.#endPiece() : undefined;
  }

  #see(samples: Int16Array, from: number, to: number): void {
    let least = this.#inPixel === 0 ? 32_767 : this.#least;
    let greatest = this.#inPixel === 0 ? -32_768 : this.#greatest;
    for (let at = from; at < to; at++) {
      const sample = samples[at] ?? 0;
      if (sample < least) least = sample;
      if (sample > greatest) greatest = sample;
    }
    this.#least = least;
    this.#greatest = greatest;
    this.#inPixel += to - from;
  }

  #endPixel(): void {
    // An Int8Array cuts towards zero.
    this.#piece[this.#filled++] = this.#least / 256;
    this.#piece[this.#filled++] = this.#greatest / 256;
    this.#inPixel = 0;
  }

  #endPiece(): Int8Array {
    const piece = this.#piece.subarray(0, this.#filled);
    this.#piece = new Int8Array(pixelsOfPiece * valuesOfPixel);
    this.#filled = 0;
    return piece;
  }
}

/**
 * A waveform as audiowaveform's JSON, version 2, a piece at a time.
 * https://github.com/bbc/audiowaveform/blob/master/doc/DataFormat.md
 */
export async function* waveformJson(waveform: {
  readonly sampleRate: number;
  /** Pixels in all pieces. */
  readonly length: number;
  readonly pieces: AsyncIterable<Int8Array>;
}): AsyncGenerator<string, void, undefined> {
  const head = JSON.stringify({
    version: 2,
    channels: 1,
    sample_rate: waveform.sampleRate,
    samples_per_pixel: waveform.sampleRate / pixelsPerSecond,
    bits: 8,
    length: waveform.length,
  });
  let before = `${head.slice(0, -1)},"data":[`;
  for await (const piece of waveform.pieces) {
    yield before + piece.join(",");
    before = ",";
  }
  yield before === "," ? "]}" : `${before}]}`;
}
