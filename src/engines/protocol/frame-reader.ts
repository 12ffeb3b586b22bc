import {
  type Frame,
  type FrameKind,
  frameKinds,
  GarbledFrame,
  headerBytes,
} from "./engine-frames.ts";

/**
 * The maximum payload length. Frames are far shorter; bytes that announce a longer payload are not
 * a frame.
 */
const payloadBytesMax = 16 << 20;

/** Reads frames from the chunks of a pipe. Only a frame that is split between chunks is copied. */
export class FrameReader {
  /** The memory of a split frame; that of its header until the header is complete. */
  #split: Buffer = Buffer.alloc(0);
  /** The number of bytes of the split frame that have arrived. */
  #arrived = 0;

  /**
   * Yields the frames that this chunk completes. Their payloads are views of the chunk or of memory
   * that is not used again. Throws GarbledFrame if bytes are not a frame.
   */
  *push(chunk: Buffer): Generator<Frame, void, undefined> {
    let at = 0;
    while (at < chunk.length) {
      const whole = this.#arrived === 0 ? firstFrame(chunk.subarray(at)) : undefined;
      if (whole) {
        at += headerBytes + whole.payload.length;
        yield whole;
        continue;
      }
      at += this.#keep(chunk.subarray(at));
      const joined = this.#arrived === this.#split.length && firstFrame(this.#split);
      if (!joined) continue;
      this.#arrived = 0;
      yield joined;
    }
  }

  /** Copies bytes of the split frame. Returns their number. */
  #keep(bytes: Buffer): number {
    if (this.#arrived === 0) this.#split = Buffer.allocUnsafe(headerBytes);
    const taken = bytes.copy(this.#split, this.#arrived);
    this.#arrived += taken;
    if (this.#arrived === headerBytes) {
      const header = this.#split;
      // A wrong kind would otherwise be noticed only after all bytes that the header announces.
      kindOf(header);
      this.#split = Buffer.allocUnsafe(headerBytes + payloadLength(header));
      header.copy(this.#split);
    }
    return taken;
  }
}

/** Returns the frame at the start of the bytes, or undefined if it is not complete. */
function firstFrame(bytes: Buffer): Frame | undefined {
  if (bytes.length < headerBytes) return undefined;
  const kind = kindOf(bytes);
  const end = headerBytes + payloadLength(bytes);
  if (end > bytes.length) return undefined;
  return { kind, session: bytes.readUInt32LE(4), payload: bytes.subarray(headerBytes, end) };
}

function kindOf(header: Buffer): FrameKind {
  const kind = frameKinds[header.readUInt32LE(8)];
  if (kind === undefined) throw notFrame();
  return kind;
}

function payloadLength(header: Buffer): number {
  const length = header.readUInt32LE(0);
  if (length > payloadBytesMax) throw notFrame();
  return length;
}

function notFrame(): GarbledFrame {
  return new GarbledFrame("the engine pipe carries bytes that are not a frame");
}
