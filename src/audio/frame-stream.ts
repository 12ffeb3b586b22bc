import { cutShort, damaged, noBytes, type StreamFramer } from "./stream-framer.ts";

/** A format that has only frames, such as MP3 and ADTS. */
export interface FrameFormat {
  readonly name: string;
  /** The bytes that contain the length of a frame. */
  readonly headBytes: number;
  /** Returns the length of the frame that begins here, or 0 if none does. */
  readonly lengthAt: (bytes: Buffer, at: number) => number;
}

/** Bytes between frames are left out, up to this number in succession. */
const foreignBytesMax = 65_536;
/**
 * Yields the frames of a stream, each in one piece. Bytes that are not a frame are left out, so
 * that the audio after them is decoded; they are reported at the end.
 */
export class FrameStream implements StreamFramer {
  readonly #format: FrameFormat;
  #held: Buffer = noBytes;
  /** The bytes of a tag that are still to be left out. */
  #tagBytes = 0;
  #foreignBytes = 0;
  #foreignInARow = 0;

  constructor(format: FrameFormat) {
    this.#format = format;
  }

  *push(bytes: Uint8Array): Generator<Buffer> {
    this.#held = Buffer.concat([this.#held, bytes]);
    while (this.#held.length > 0) {
      this.#tagBytes ||= tagBytesOf(this.#held);
      if (this.#tagBytes > 0) {
        const left = Math.min(this.#tagBytes, this.#held.length);
        this.#tagBytes -= left;
        this.#held = this.#held.subarray(left);
        continue;
      }
      if (this.#held.length < tagHeadBytes && isTagStart(this.#held)) return;
      if (this.#held.length < this.#format.headBytes) return;
      const length = this.#format.lengthAt(this.#held, 0);
      if (length === 0) {
        if (isPadding(this.#held)) return;
        this.#skipForeign();
        continue;
      }
      const isLost = this.#foreignInARow > 0;
      if (this.#held.length < length + (isLost ? this.#format.headBytes : 0)) return;
      // A header among foreign bytes may be there by chance.
      if (isLost && this.#format.lengthAt(this.#held, length) === 0) {
        this.#skipForeign();
        continue;
      }
      this.#foreignInARow = 0;
      const frame = this.#held.subarray(0, length);
      this.#held = this.#held.subarray(length);
      yield frame;
    }
  }

  end(): Uint8Array {
    if (this.#foreignBytes > 0) throw damaged(`frames of ${this.#format.name} only`);
    if (this.#tagBytes > 0 || !isPadding(this.#held)) throw cutShort();
    return noBytes;
  }

  #skipForeign(): void {
    this.#held = this.#held.subarray(1);
    this.#foreignBytes += 1;
    this.#foreignInARow += 1;
    if (this.#foreignInARow > foreignBytesMax) throw damaged(`frames of ${this.#format.name}`);
  }
}

/** Returns whether these bytes are zeros, which may follow the last frame. */
function isPadding(bytes: Buffer): boolean {
  return bytes.length <= foreignBytesMax && bytes.every((byte) => byte === 0);
}

/** The bytes that contain the length of any tag. */
const tagHeadBytes = 24;

function isTagStart(bytes: Buffer): boolean {
  const text = bytes.toString("latin1", 0, 8);
  return ["ID3", "TAG", "APETAGEX"].some((mark) =>
    text.length < mark.length ? mark.startsWith(text) : text.startsWith(mark),
  );
}

/** Returns the length of the tag that begins here: ID3 (versions 1 and 2) or APE; 0 for others. */
function tagBytesOf(bytes: Buffer): number {
  if (bytes.length < tagHeadBytes) return 0;
  const text = bytes.toString("latin1", 0, 8);
  if (text.startsWith("TAG")) return 128;
  if (text === "APETAGEX") {
    // The length is that without the header. A footer alone has a flag less.
    const isHeader = (bytes.readUInt8(23) & 0x20) !== 0;
    return 32 + (isHeader ? bytes.readUInt32LE(12) : 0);
  }
  if (!text.startsWith("ID3")) return 0;
  // The content has a length in four bytes of seven bits, and the header may be repeated.
  const size = bytes.subarray(6, 10).reduce((sum, byte) => sum * 128 + (byte & 0x7f), 0);
  return 10 + size + ((bytes.readUInt8(5) & 0x10) === 0 ? 0 : 10);
}
