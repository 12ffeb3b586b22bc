import { ServiceError } from "../std/service-error.ts";

/**
 * At this rate per second, chunks of fewer than `pieceBytesMin` bytes on average cost more to
 * process than to send.
 */
const piecesMax = 1_000;
const pieceBytesMin = 32;
const windowMs = 1_000;
/**
 * The number of chunks at the start of each body that do not count. There may be many short bodies.
 */
const freePieces = 16;

/**
 * Counts the chunks of the bodies on one connection: HTTP/1.1 chunks, HTTP/2 frames or WebSocket
 * frames.
 */
export class TinyChunks {
  #pieces = 0;
  #bytes = 0;
  #since = 0;

  /**
   * Returns a function for one body. The function accepts the size of each chunk and returns
   * whether the connection's chunks are too small.
   */
  ofBody(): (bytes: number) => boolean {
    let pieces = 0;
    return (bytes) => {
      pieces += 1;
      return pieces > freePieces && this.areTiny(bytes);
    };
  }

  /**
   * Counts a chunk. Returns whether the chunks are too small: more than 1,000 in a second, with
   * fewer than 32 bytes on average.
   */
  areTiny(bytes: number): boolean {
    if (this.#pieces === 0) this.#since = performance.now();
    this.#pieces += 1;
    this.#bytes += bytes;
    if (this.#pieces < piecesMax) return false;
    const isFast = performance.now() - this.#since < windowMs;
    const areSmall = this.#bytes < this.#pieces * pieceBytesMin;
    [this.#pieces, this.#bytes] = [0, 0];
    return isFast && areSmall;
  }
}

/** The error for a client that sends tiny chunks. */
export function tinyChunks(): ServiceError {
  const limit = `received more than ${piecesMax} pieces of less than ${pieceBytesMin} bytes on average within a second`;
  return new ServiceError("invalid_argument", `${limit}: send larger pieces`, {
    reason: "PIECES_TOO_SMALL",
  });
}
