/** The maximum number of free slabs across all lengths. Each sample rate has its own length. */
const sparesMax = 256;

/**
 * Blocks of samples that recognitions reuse one after the other. Memory that many streams keep for
 * some seconds and then drop is the worst case for a generational garbage collector: it outlives
 * the young generation and is collected with the old one (bench/RESULTS.md).
 */
export class SlabPool {
  /** Free slabs by length; the least recently released length is first. */
  readonly #spares = new Map<number, Int16Array[]>();
  #count = 0;

  /** Returns a slab, which still contains the data of its last use. */
  take(samples: number): Int16Array {
    const spare = this.#spares.get(samples)?.pop();
    if (!spare) return new Int16Array(samples);
    this.#count -= 1;
    return spare;
  }

  /** Returns to the pool a slab that is no longer read. */
  release(slab: Int16Array): void {
    const spares = this.#spares.get(slab.length) ?? [];
    this.#spares.delete(slab.length);
    this.#spares.set(slab.length, spares);
    spares.push(slab);
    this.#count += 1;
    if (this.#count <= sparesMax) return;
    for (const [length, others] of this.#spares) {
      if (others.pop()) this.#count -= 1;
      if (others.length === 0) this.#spares.delete(length);
      if (this.#count <= sparesMax) return;
    }
  }
}
