import { joinSamples } from "../../audio/join-samples.ts";
import type { AlignableRecording } from "./align-recording.ts";

/** A stretch of a recording that is read as it is needed and held until it is dropped. */
export class HeldAudio implements AlignableRecording {
  readonly #chunks: AsyncIterator<Int16Array>;
  readonly #samplesPerMs: number;
  #held: Int16Array[] = [];
  /** The number of samples before those that are held. */
  #dropped = 0;
  /** The number of samples read so far. */
  #read = 0;
  /** The first sample that is still needed. */
  #neededFrom = 0;
  #isOver = false;

  constructor(samples: AsyncIterable<Int16Array>, samplesPerSecond: number) {
    this.#chunks = samples[Symbol.asyncIterator]();
    this.#samplesPerMs = samplesPerSecond / 1000;
  }

  get heldUntilMs(): number {
    return Math.floor(this.#read / this.#samplesPerMs);
  }

  /** Reads up to this time. Returns whether the recording is longer. */
  async reaches(ms: number): Promise<boolean> {
    while (!this.#isOver && this.#read <= ms * this.#samplesPerMs) {
      const { done, value } = await this.#chunks.next();
      if (done) this.#isOver = true;
      else {
        this.#read += value.length;
        if (this.#read > this.#neededFrom) this.#held.push(value.slice());
        else this.#dropped = this.#read;
      }
    }
    return !this.#isOver;
  }

  /** Returns the samples of a section that is held. */
  async window(startMs: number, endMs: number): Promise<Int16Array> {
    this.#held = [joinSamples(this.#held)];
    const at = (ms: number) => Math.max(0, Math.round(ms * this.#samplesPerMs) - this.#dropped);
    const samples = this.#held[0]?.subarray(at(startMs), at(endMs));
    return Promise.resolve(samples ?? new Int16Array(0));
  }

  /** Drops the samples before this time, including those that are not read yet. */
  drop(beforeMs: number): void {
    this.#neededFrom = Math.round(beforeMs * this.#samplesPerMs);
    const held = joinSamples(this.#held);
    const count = Math.min(held.length, Math.max(0, this.#neededFrom - this.#dropped));
    this.#held = count < held.length ? [held.slice(count)] : [];
    this.#dropped += count;
  }

  /** Reads to the end of the recording. Returns its length in milliseconds. */
  async drain(): Promise<number> {
    this.#held = [];
    this.#dropped = this.#read;
    while (!this.#isOver) {
      const { done, value } = await this.#chunks.next();
      if (done) this.#isOver = true;
      else this.#read += value.length;
    }
    return this.heldUntilMs;
  }
}
