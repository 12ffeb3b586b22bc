import { endUtterance, type RecognitionInput } from "../protocol/recognizer.ts";
import type { InputPosition } from "../protocol/session-checkpoint.ts";
import { SlabPool } from "./slab-pool.ts";

/**
 * Shorter chunks are copied together: what is kept takes little more memory than its samples,
 * however they came. Measured, it costs less than to keep the chunks of a live stream, which the
 * collector of garbage then has to carry along.
 */
const shortSeconds = 0.5;
const slabSeconds = 1;
const noSlab = new Int16Array(0);
const pool = new SlabPool();

/**
 * What a recognition was given and has not settled yet, to be given to another process when its own
 * dies.
 */
export class KeptInput {
  readonly #shortSamples: number;
  readonly #slabSamples: number;
  readonly #items: RecognitionInput[] = [];
  /** Up to the first item. */
  #samplesBefore = 0;
  #marksBefore = 0;
  #samples = 0;
  /**
   * Where short chunks are gathered; while the last item ends where it is filled, that item can
   * grow.
   */
  #slab: Int16Array = noSlab;
  #slabFilled = 0;
  /** Slabs before it that items lie in, in order. */
  readonly #fullSlabs: Int16Array[] = [];

  constructor(sampleRateHertz: number) {
    this.#shortSamples = sampleRateHertz * shortSeconds;
    this.#slabSamples = Math.ceil(sampleRateHertz * slabSeconds);
  }

  /** Samples kept. */
  get samples(): number {
    return this.#samples;
  }

  /** Items kept. */
  get length(): number {
    return this.#items.length;
  }

  /** What to give again, in order. */
  items(): readonly RecognitionInput[] {
    return [...this.#items];
  }

  /** Takes the next chunk or mark; it is not to be changed any more. */
  push(item: RecognitionInput): void {
    if (item === endUtterance) {
      this.#items.push(item);
      return;
    }
    if (item.length === 0) return;
    this.#samples += item.length;
    if (item.length < this.#shortSamples) this.#gather(item);
    else this.#items.push(item);
  }

  #gather(chunk: Int16Array): void {
    if (this.#slabFilled + chunk.length > this.#slab.length) {
      if (this.#slab !== noSlab) this.#fullSlabs.push(this.#slab);
      this.#slab = pool.take(this.#slabSamples);
      this.#slabFilled = 0;
    }
    const last = this.#items.at(-1);
    const canGrow =
      last !== undefined &&
      last !== endUtterance &&
      last.buffer === this.#slab.buffer &&
      last.byteOffset + last.byteLength === 2 * this.#slabFilled;
    if (canGrow) this.#items.pop();
    const start = canGrow ? this.#slabFilled - last.length : this.#slabFilled;
    this.#slab.set(chunk, this.#slabFilled);
    this.#slabFilled += chunk.length;
    this.#items.push(this.#slab.subarray(start, this.#slabFilled));
  }

  /** Lets go of everything before this position. */
  release(position: InputPosition): void {
    let gone = 0;
    for (const item of this.#items) {
      if (item === endUtterance) {
        if (this.#marksBefore >= position.marks) break;
        this.#marksBefore += 1;
      } else {
        const left = position.samples - this.#samplesBefore;
        if (left < item.length) {
          this.#items[gone] = item.subarray(left);
          this.#drop(left);
          break;
        }
        this.#drop(item.length);
      }
      gone += 1;
    }
    this.#items.splice(0, gone);
    this.#giveSlabs();
  }

  /**
   * Gives back the slabs in which nothing lies any more. Only what a process was given is settled:
   * nobody reads it again.
   */
  #giveSlabs(): void {
    const buffers = new Set(
      this.#items.map((item) => (item === endUtterance ? item : item.buffer)),
    );
    while (this.#fullSlabs[0] && !buffers.has(this.#fullSlabs[0].buffer)) {
      pool.give(this.#fullSlabs[0]);
      this.#fullSlabs.shift();
    }
    if (this.#slab === noSlab || buffers.has(this.#slab.buffer)) return;
    pool.give(this.#slab);
    this.#slab = noSlab;
    this.#slabFilled = 0;
  }

  #drop(samples: number): void {
    this.#samplesBefore += samples;
    this.#samples -= samples;
  }
}
