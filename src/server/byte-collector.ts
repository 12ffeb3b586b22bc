import type { HeldShare } from "../std/held-bytes.ts";
import { ServiceError } from "../std/service-error.ts";

/** A first part that is no longer is kept as it came; it is the whole of most messages. */
const keptBytesMax = 16 << 10;
const roomBytesMin = 32 << 10;

/**
 * Puts parts of a message together as they come, in one buffer that grows: a list of parts would
 * hold more than it counts where parts are small, and as much again when they are joined.
 */
export class ByteCollector {
  readonly #bytesMax: number;
  readonly #share: HeldShare;
  #only: Uint8Array | undefined;
  #buffer = new Uint8Array(0);
  #length = 0;

  /** What is collected is held in the share, and stays there when it is taken. */
  constructor(bytesMax: number, share: HeldShare) {
    this.#bytesMax = bytesMax;
    this.#share = share;
  }

  get length(): number {
    return this.#length;
  }

  /**
   * Throws invalid_argument (413) past the limit, resource_exhausted where the share may not grow.
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
   * All of it; what is longer than the parts that are kept has a buffer of its own. The collector
   * begins anew.
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
      // Its memory is given back at once: the garbage collector does not know how much it is.
      if (before.length > 0) before.buffer.transfer(0);
    }
    if (this.#only === undefined) return;
    this.#buffer.set(this.#only);
    this.#only = undefined;
  }
}

/** invalid_argument (413) for a message that is longer than its method takes. */
export function tooLarge(bytesMax: number): ServiceError {
  return new ServiceError("invalid_argument", `the body is larger than ${bytesMax} bytes`, {
    reason: "PAYLOAD_TOO_LARGE",
    httpStatus: 413,
    metadata: { bytesMax: `${bytesMax}` },
  });
}
