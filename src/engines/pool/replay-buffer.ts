import { endUtterance, type SessionInput } from "../protocol/recognizer.ts";
import type { InputPosition } from "../protocol/session-checkpoint.ts";
import { SlabPool } from "./slab-pool.ts";

/**
 * Shorter chunks are copied into slabs, so that the buffer takes little more memory than its
 * samples. Measurements show that this costs less than leaving the chunks of a live stream to the
 * garbage collector.
 */
const shortSeconds = 0.5;
const slabSeconds = 1;
const noSlab = new Int16Array(0);
const pool = new SlabPool();

/**
 * The input of a recognition that no commit covers yet, kept so that it can be sent to another
 * process if its own dies.
 */
export class ReplayBuffer {
  readonly #shortSamples: number;
  readonly #slabSamples: number;
  readonly #items: SessionInput[] = [];
  /** The position in the stream of the first item. */
  #samplesBefore = 0;
  #flushMarkersBefore = 0;
  #samples = 0;
  /**
   * The slab into which short chunks are copied. The last item can grow if it ends where the filled
   * part of the slab ends.
   */
  #slab: Int16Array = noSlab;
  #slabFilled = 0;
  /** Earlier slabs that still contain items, in order. */
  readonly #fullSlabs: Int16Array[] = [];

  constructor(sampleRateHertz: number) {
    this.#shortSamples = sampleRateHertz * shortSeconds;
    this.#slabSamples = Math.ceil(sampleRateHertz * slabSeconds);
  }

  /** The number of samples. */
  get samples(): number {
    return this.#samples;
  }

  /** The number of items. */
  get length(): number {
    return this.#items.length;
  }

  /** Returns the input to replay, in order. */
  items(): readonly SessionInput[] {
    return [...this.#items];
  }

  /** Adds the next item, which the caller must not modify afterwards. */
  push(item: SessionInput): void {
    if (!(item instanceof Int16Array)) {
      this.#items.push(item);
      return;
    }
    if (item.length === 0) return;
    this.#samples += item.length;
    if (item.length < this.#shortSamples) this.#copy(item);
    else this.#items.push(item);
  }

  #copy(chunk: Int16Array): void {
    if (this.#slabFilled + chunk.length > this.#slab.length) {
      if (this.#slab !== noSlab) this.#fullSlabs.push(this.#slab);
      this.#slab = pool.take(this.#slabSamples);
      this.#slabFilled = 0;
    }
    const last = this.#items.at(-1);
    const canGrow =
      last instanceof Int16Array &&
      last.buffer === this.#slab.buffer &&
      last.byteOffset + last.byteLength === 2 * this.#slabFilled;
    if (canGrow) this.#items.pop();
    const start = canGrow ? this.#slabFilled - last.length : this.#slabFilled;
    this.#slab.set(chunk, this.#slabFilled);
    this.#slabFilled += chunk.length;
    this.#items.push(this.#slab.subarray(start, this.#slabFilled));
  }

  /**
   * Drops everything before this position. An effort at the position itself is kept: it may have
   * been processed, and is harmless if it is processed again.
   */
  release(position: InputPosition): void {
    let [at, dropped] = [0, 0];
    for (const item of this.#items) {
      if (typeof item === "string") {
        at += 1;
        continue;
      }
      if (item === endUtterance) {
        if (this.#flushMarkersBefore >= position.flushMarkers) break;
        this.#flushMarkersBefore += 1;
      } else {
        const left = position.samples - this.#samplesBefore;
        if (left < item.length) {
          this.#items[at] = item.subarray(left);
          this.#drop(left);
          if (left > 0) dropped = at;
          break;
        }
        this.#drop(item.length);
      }
      at += 1;
      dropped = at;
    }
    this.#items.splice(0, dropped);
    this.#releaseSlabs();
  }

  /** Releases slabs without items. A commit covers their content, so they are not read again. */
  #releaseSlabs(): void {
    const buffers = new Set(
      this.#items.map((item) => (item instanceof Int16Array ? item.buffer : undefined)),
    );
    while (this.#fullSlabs[0] && !buffers.has(this.#fullSlabs[0].buffer)) {
      pool.release(this.#fullSlabs[0]);
      this.#fullSlabs.shift();
    }
    if (this.#slab === noSlab || buffers.has(this.#slab.buffer)) return;
    pool.release(this.#slab);
    this.#slab = noSlab;
    this.#slabFilled = 0;
  }

  #drop(samples: number): void {
    this.#samplesBefore += samples;
    this.#samples -= samples;
  }
}
