import type { Chunks } from "./recording.ts";

/**
 * Word times are told in whole milliseconds: a word may seem to end so much after the samples that
 * it was heard in.
 */
const roundingMs = 1;

/**
 * When the chunks of one stream were sent, as milliseconds of performance.now(). A recording that
 * is over begins again.
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

  /** The next chunk has been sent. */
  sent(atMs: number): void {
    this.#sentAt.push(atMs);
  }

  /** The empty audioContent has been sent. */
  finalized(atMs: number): void {
    this.#finalizedAt = atMs;
  }

  get finalizedAt(): number | undefined {
    return this.#finalizedAt;
  }

  /**
   * When the chunk was sent that holds this moment of the stream; undefined while it has not been.
   */
  sentAtOf(audioMs: number): number | undefined {
    return this.#sentAt[this.#chunkOf(Math.max(0, audioMs - roundingMs))];
  }

  /** When the last chunk so far was sent. */
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
