import { wavHeader } from "./wav.ts";

/** What is kept as numbers; older sound is in Blobs, which browsers put on the disk. */
const looseSecondsMax = 10;

interface Piece {
  readonly start: number;
  readonly length: number;
  readonly content: Blob;
}

/**
 * Everything that was said into the microphone: LINEAR16 of one channel, kept until it is saved or
 * given up.
 */
export class Recording {
  /** Samples a second. */
  readonly rate: number;
  readonly #pieces: Piece[] = [];
  #loose: Int16Array<ArrayBuffer>[] = [];
  #looseStart = 0;
  #length = 0;
  #isOver = false;
  #change = Promise.withResolvers<void>();

  constructor(rate: number) {
    this.rate = rate;
  }

  /** Samples. */
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
      this.#pieces.push({ start: this.#looseStart, length: looseLength, content });
      this.#loose = [];
      this.#looseStart = this.#length;
    }
    this.#changed();
  }

  /** Nothing more comes for now: who reads gets to the end. */
  end(): void {
    this.#isOver = true;
    this.#changed();
  }

  /** Goes on after its end. */
  goOn(): void {
    this.#isOver = false;
  }

  /** Whether there is anything from a sample on; waits for it until the end. */
  async hasMore(start: number): Promise<boolean> {
    while (this.#length <= start && !this.#isOver) await this.#change.promise;
    return this.#length > start;
  }

  /**
   * What was said from a sample on, as bytes, and what will be until the end; `onRead` is told how
   * far it was taken.
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

  /** The whole as a WAVE file. */
  wav(): Blob {
    const pieces = this.#pieces.map(({ content }) => content);
    return new Blob([wavHeader(this.#length, this.rate), ...pieces, ...this.#loose], {
      type: "audio/wav",
    });
  }

  /** Some of what there is from a sample on. */
  async #read(start: number): Promise<Uint8Array> {
    if (start < this.#looseStart) {
      const piece = this.#pieces.findLast((each) => each.start <= start);
      if (!piece) throw new Error(`no sound at sample ${start}`);
      const rest = piece.content.slice(2 * (start - piece.start));
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
    throw new Error(`no sound at sample ${start}`);
  }

  #changed(): void {
    this.#change.resolve();
    this.#change = Promise.withResolvers();
  }
}
