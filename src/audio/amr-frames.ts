import { cutShort, damaged, noBytes, type StreamFramer } from "./stream-framer.ts";

/** The marks of a file (RFC 4867, section 5), each with the lengths of its types of frames. */
const marks: readonly [mark: string, frameBytes: readonly number[]][] = [
  ["#!AMR\n", [13, 14, 16, 18, 20, 21, 27, 32, 6]],
  ["#!AMR-WB\n", [18, 24, 33, 37, 41, 47, 51, 59, 61, 6]],
];
const typeOfNoSound = 15;

/** Checks the frames of AMR and AMR-WB, and passes on those that are whole. */
export class AmrFrames implements StreamFramer {
  #held: Buffer = noBytes;
  #frameBytes: readonly number[] | undefined;

  *push(bytes: Uint8Array): Generator<Uint8Array> {
    this.#held = Buffer.concat([this.#held, bytes]);
    if (!this.#frameBytes) {
      const found = marks.find(([mark]) => this.#held.toString("latin1", 0, mark.length) === mark);
      if (!found) return;
      const [mark, frameBytes] = found;
      this.#frameBytes = frameBytes;
      yield this.#take(mark.length);
    }
    while (this.#held.length > 0) {
      const type = (this.#held.readUInt8(0) >> 3) & 15;
      // Two bits at each end of the header are zero.
      const isHeader = (this.#held.readUInt8(0) & 0x83) === 0;
      const length = type === typeOfNoSound ? 1 : this.#frameBytes[type];
      if (!isHeader || length === undefined) throw damaged("frames of AMR");
      if (this.#held.length < length) return;
      yield this.#take(length);
    }
  }

  end(): Uint8Array {
    if (this.#held.length > 0) throw cutShort();
    return noBytes;
  }

  #take(count: number): Buffer {
    const taken = this.#held.subarray(0, count);
    this.#held = this.#held.subarray(count);
    return taken;
  }
}
