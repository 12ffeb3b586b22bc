/** The number of pixels of a waveform per second of a recording (docs/api.md, Uploads). */
const pixelsPerSecond = 20;

/** The number of pixels per section of a waveform; a section is ten minutes long. */
const pixelsOfSection = 600 * pixelsPerSecond;
/** The number of values per pixel: the minimum and the maximum sample. */
const valuesOfPixel = 2;

/**
 * Computes the waveform of 16-bit samples, in sections of ten minutes. A pixel consists of two
 * signed bytes: its minimum and its maximum sample, divided by 256 and truncated towards zero, as
 * audiowaveform does for 8 bits. The sections do not depend on how the samples are split into
 * chunks.
 */
export class WaveformMaker {
  readonly #samplesPerPixel: number;
  #section = new Int8Array(pixelsOfSection * valuesOfPixel);
  #filled = 0;
  #inPixel = 0;
  #least = 0;
  #greatest = 0;

  /** `sampleRate` must be a multiple of pixelsPerSecond. */
  constructor(sampleRate: number) {
    this.#samplesPerPixel = sampleRate / pixelsPerSecond;
  }

  /** Accepts the next samples. Returns the sections that they complete. */
  push(samples: Int16Array): Int8Array[] {
    const sections: Int8Array[] = [];
    for (let at = 0; at < samples.length;) {
      const end = Math.min(samples.length, at + this.#samplesPerPixel - this.#inPixel);
      this.#measure(samples, at, end);
      at = end;
      if (this.#inPixel === this.#samplesPerPixel) this.#endPixel();
      if (this.#filled === this.#section.length) sections.push(this.#endSection());
    }
    return sections;
  }

  /** Returns the last section, if there is one. Its last pixel may have fewer samples. */
  end(): Int8Array | undefined {
    if (this.#inPixel > 0) this.#endPixel();
    return this.#filled > 0 ? this.#endSection() : undefined;
  }

  #measure(samples: Int16Array, from: number, to: number): void {
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
    // An Int8Array truncates towards zero.
    this.#section[this.#filled++] = this.#least / 256;
    this.#section[this.#filled++] = this.#greatest / 256;
    this.#inPixel = 0;
  }

  #endSection(): Int8Array {
    const section = this.#section.subarray(0, this.#filled);
    this.#section = new Int8Array(pixelsOfSection * valuesOfPixel);
    this.#filled = 0;
    return section;
  }
}

/**
 * Yields a waveform as audiowaveform's JSON, version 2, one section at a time.
 *
 * https://github.com/bbc/audiowaveform/blob/master/doc/DataFormat.md
 */
export async function* waveformJson(waveform: {
  readonly sampleRate: number;
  /** The number of pixels in all sections. */
  readonly length: number;
  readonly sections: AsyncIterable<Int8Array>;
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
  for await (const section of waveform.sections) {
    yield before + section.join(",");
    before = ",";
  }
  yield before === "," ? "]}" : `${before}]}`;
}
