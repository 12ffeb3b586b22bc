/** The number of free slabs that may always be kept, across all lengths. */
const sparesMin = 256;
/**
 * Slabs are released within some seconds after they were taken, when an utterance ends. As many as
 * were taken in this time may be free.
 */
const windowMs = 10_000;

/**
 * Blocks of samples that recognitions reuse one after the other. Memory that many streams keep for
 * some seconds and then drop is the worst case for a generational garbage collector: it outlives
 * the young generation and is collected with the old one (bench/RESULTS.md). Each sample rate has
 * a length of its own.
 */
export class SlabPool {
  /** Free slabs by length; the least recently released length is first. */
  readonly #spares = new Map<number, Int16Array[]>();
  #count = 0;
  /** The number of slabs taken in this window, and in the window before. */
  #taken = 0;
  #takenBefore = 0;
  /** Ends the window. It runs while there may be too many free slabs. */
  #timer: NodeJS.Timeout | undefined;

  /** Returns a slab, which still contains the data of its last use. */
  take(samples: number): Int16Array {
    this.#taken += 1;
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
    this.#dropSpares();
    if (this.#timer === undefined) this.#timer = this.#startTimer();
  }

  #startTimer(): NodeJS.Timeout {
    return setTimeout(this.#endWindow, windowMs).unref();
  }

  readonly #endWindow = (): void => {
    this.#takenBefore = this.#taken;
    this.#taken = 0;
    this.#dropSpares();
    this.#timer = this.#count > sparesMin ? this.#startTimer() : undefined;
  };

  #dropSpares(): void {
    const sparesMax = Math.max(sparesMin, this.#taken, this.#takenBefore);
    if (this.#count <= sparesMax) return;
    for (const [length, spares] of this.#spares) {
      const dropped = Math.min(spares.length, this.#count - sparesMax);
      spares.length -= dropped;
      this.#count -= dropped;
      if (spares.length === 0) this.#spares.delete(length);
      if (this.#count <= sparesMax) return;
    }
  }
}
