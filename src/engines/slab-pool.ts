/** Slabs kept for whoever needs one next, of each length. */
const sparesMax = 256;

/**
 * Blocks of samples that go from one recognition to the next. What many streams keep for some seconds and then drop is the worst
 * that a collector of garbage can get: it outlives the young and has to be found among all that is old (bench/RESULTS.md).
 */
export class SlabPool {
  readonly #spares = new Map<number, Int16Array[]>();

  /** A slab; what is in it is left from before. */
  take(samples: number): Int16Array {
    return this.#spares.get(samples)?.pop() ?? new Int16Array(samples);
  }

  /** Gives a slab back: nobody looks at it any more. */
  give(slab: Int16Array): void {
    let spares = this.#spares.get(slab.length);
    if (!spares) this.#spares.set(slab.length, (spares = []));
    if (spares.length < sparesMax) spares.push(slab);
  }
}
