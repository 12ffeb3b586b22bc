/**
 * Slabs kept for whoever needs one next, of all lengths together: there are as many lengths as
 * rates.
 */
const sparesMax = 256;

/**
 * Blocks of samples that go from one recognition to the next. What many streams keep for some
 * seconds and then drop is the worst that a collector of garbage can get: it outlives the young and
 * has to be found among all that is old (bench/RESULTS.md).
 */
export class SlabPool {
  /** By length, those given back longest ago first. */
  readonly #spares = new Map<number, Int16Array[]>();
  #count = 0;

  /** A slab; what is in it is left from before. */
  take(samples: number): Int16Array {
    const spare = this.#spares.get(samples)?.pop();
    if (!spare) return new Int16Array(samples);
    this.#count -= 1;
    return spare;
  }

  /** Gives a slab back: nobody looks at it any more. */
  give(slab: Int16Array): void {
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
