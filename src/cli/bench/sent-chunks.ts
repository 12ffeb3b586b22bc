import type { Chunks } from "./recording.ts";

/**
 * Word times are in whole milliseconds, so a word may seem to end this much after the samples that
 * contain it.
 */
const roundingMs = 1;

/**
 * Stores the times at which the chunks of one stream were sent, in milliseconds of
 * performance.now(). The recording repeats.
 */
export class SentChunks {
  readonly #chunks: Chunks;
  readonly #sentAt: number[] = [];
  #finalizedAt: number | undefined;

  constructor(chunks: Chunks) {
    this.#chunks = chunks;
  }

  get count(): number {
    return this.#sentAt.length;
  }

  /** Records the sending of the next chunk. */
  sent(atMs: number): void {
    this.#sentAt.push(atMs);
  }

  /** Records the sending of the empty audioContent. */
  finalized(atMs: number): void {
    this.#finalizedAt = atMs;
  }

  get finalizedAt(): number | undefined {
    return this.#finalizedAt;
  }

  /**
   * Returns the time at which the chunk with this moment of the stream was sent, or undefined if it
   * has not been sent yet.
   */
  sentAtOf(audioMs: number): number | undefined {
    return this.#sentAt[this.#chunkOf(Math.max(0, audioMs - roundingMs))];
  }

  /** The time at which the latest chunk was sent. */
  get lastSentAt(): number | undefined {
    return this.#sentAt.at(-1);
  }

  #chunkOf(audioMs: number): number {
    const { ends, sampleRateHertz } = this.#chunks;
    const total = ends.at(-1) ?? 1;
    const sample = Math.floor((audioMs * sampleRateHertz) / 1000);
    const rounds = Math.floor(sample / total);
    const rest = sample - rounds * total;
    let [low, high] = [0, ends.length - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((ends[middle] ?? 0) > rest) high = middle;
      else low = middle + 1;
    }
    return rounds * ends.length + low;
  }
}
