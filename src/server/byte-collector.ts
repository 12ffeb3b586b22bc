import type { HeldShare } from "../std/held-bytes.ts";
import { ServiceError } from "../std/service-error.ts";

/** A first chunk up to this size is kept unchanged; most messages are one chunk. */
const keptBytesMax = 16 << 10;
const roomBytesMin = 32 << 10;

/**
 * Joins the chunks of a message in one growing buffer. A list of small chunks would use more memory
 * than is counted, and twice that amount when they are joined.
 */
export class ByteCollector {
  readonly #bytesMax: number;
  readonly #share: HeldShare;
  #only: Uint8Array | undefined;
  #buffer = new Uint8Array(0);
  #length = 0;

  /** The share counts the collected bytes, even after take(). */
  constructor(bytesMax: number, share: HeldShare) {
    this.#bytesMax = bytesMax;
    this.#share = share;
  }

  get length(): number {
    return this.#length;
  }

  /**
   * Adds a part. Throws invalid_argument (413) if the limit is exceeded, and resource_exhausted if
   * the share may not grow.
   */
  add(part: Uint8Array): void {
    const length = this.#length + part.length;
    if (length > this.#bytesMax) throw tooLarge(this.#bytesMax);
    if (this.#length === 0 && part.length <= keptBytesMax) {
      this.#share.grow(part.length);
      this.#only = part;
    } else {
      this.#makeRoom(length);
      this.#buffer.set(part, this.#length);
    }
    this.#length = length;
  }

  /**
   * Returns all bytes, in a separate buffer unless they are one small chunk. Afterwards, the
   * collector is empty.
   */
  take(): Uint8Array {
    const taken = this.#only ?? this.#buffer.subarray(0, this.#length);
    this.#only = undefined;
    this.#buffer = new Uint8Array(0);
    this.#length = 0;
    return taken;
  }

  #makeRoom(length: number): void {
    const before = this.#buffer;
    if (length > before.length) {
      const room = Math.min(
        this.#bytesMax,
        Math.max(roomBytesMin, length, Math.ceil(before.length * 1.5)),
      );
      this.#share.grow(room - before.length - (this.#only?.length ?? 0));
      this.#buffer = new Uint8Array(room);
      this.#buffer.set(before.subarray(0, this.#only ? 0 : this.#length));
      // The memory is freed now, because the garbage collector does not know its size.
      if (before.length > 0) before.buffer.transfer(0);
    }
    if (this.#only === undefined) return;
    this.#buffer.set(this.#only);
    this.#only = undefined;
  }
}

/**
 * Returns the error for a message that is longer than its method accepts: invalid_argument (413).
 */
export function tooLarge(bytesMax: number): ServiceError {
  return new ServiceError("invalid_argument", `the body is larger than ${bytesMax} bytes`, {
    reason: "PAYLOAD_TOO_LARGE",
    httpStatus: 413,
    metadata: { bytesMax: `${bytesMax}` },
  });
}
