import { wavHeader } from "../../std/wav.ts";

/**
 * The maximum length of audio kept in memory. Older audio is in Blobs, which browsers store on
 * disk.
 */
const looseSecondsMax = 10;

interface StoredPart {
  readonly start: number;
  readonly length: number;
  readonly content: Blob;
}

/**
 * All audio from the microphone: LINEAR16, one channel. The audio is stored until it is saved or
 * discarded.
 */
export class LiveRecording {
  /** The number of samples per second. */
  readonly rate: number;
  readonly #stored: StoredPart[] = [];
  #loose: Int16Array<ArrayBuffer>[] = [];
  #looseStart = 0;
  #length = 0;
  #isOver = false;
  #change = Promise.withResolvers<void>();

  /** `stored` is the audio of a recording that is continued. */
  constructor(rate: number, stored: readonly Blob[] = []) {
    this.rate = rate;
    for (const content of stored) {
      const length = content.size / 2;
      this.#stored.push({ start: this.#length, length, content });
      this.#length += length;
    }
    this.#looseStart = this.#length;
  }

  /** The length of the recording, in samples. */
  get length(): number {
    return this.#length;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  get seconds(): number {
    return this.#length / this.rate;
  }

  get bytes(): number {
    return 2 * this.#length;
  }

  push(samples: Int16Array<ArrayBuffer>): void {
    this.#loose.push(samples);
    this.#length += samples.length;
    const looseLength = this.#length - this.#looseStart;
    if (looseLength >= looseSecondsMax * this.rate) {
      const content = new Blob(this.#loose);
      this.#stored.push({ start: this.#looseStart, length: looseLength, content });
      this.#loose = [];
      this.#looseStart = this.#length;
    }
    this.#changed();
  }

  /** Ends the recording for now, so that readers reach its end. */
  end(): void {
    this.#isOver = true;
    this.#changed();
  }

  /** Resumes the recording after it has ended. */
  resume(): void {
    this.#isOver = false;
  }

  /**
   * Returns whether there is any audio from sample `start` on. Waits for such audio unless the
   * recording has ended.
   */
  async hasMore(start: number): Promise<boolean> {
    while (this.#length <= start && !this.#isOver) await this.#change.promise;
    return this.#length > start;
  }

  /**
   * Yields the audio from sample `start` on, as bytes, until the recording ends. `onRead` is called
   * with the position up to which the audio has been read.
   */
  async *from(start: number, onRead: (end: number) => void): AsyncGenerator<Uint8Array, void> {
    let at = start;
    while (await this.hasMore(at)) {
      const bytes = await this.#read(at);
      at += bytes.byteLength / 2;
      onRead(at);
      yield bytes;
    }
  }

  /** Returns the whole recording as a WAVE file. */
  wav(): Blob {
    const stored = this.#stored.map(({ content }) => content);
    const header = wavHeader({ sampleRateHertz: this.rate, dataBytes: this.bytes });
    return new Blob([header, ...stored, ...this.#loose], { type: "audio/wav" });
  }

  /** Returns some of the audio from sample `start` on. */
  async #read(start: number): Promise<Uint8Array> {
    if (start < this.#looseStart) {
      const part = this.#stored.findLast((each) => each.start <= start);
      if (!part) throw new Error(`no audio at sample ${start}`);
      const rest = part.content.slice(2 * (start - part.start));
      return new Uint8Array(await rest.arrayBuffer());
    }
    let at = this.#looseStart;
    for (const samples of this.#loose) {
      if (start < at + samples.length) {
        const rest = samples.subarray(start - at);
        return new Uint8Array(rest.buffer, rest.byteOffset, rest.byteLength);
      }
      at += samples.length;
    }
    throw new Error(`no audio at sample ${start}`);
  }

  #changed(): void {
    this.#change.resolve();
    this.#change = Promise.withResolvers();
  }
}
