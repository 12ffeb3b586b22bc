/**
 * A function that runs when it is due. `dueMs` is that time, in milliseconds of performance.now().
 */
export type Step = (dueMs: number) => void;

/**
 * Runs steps in the order of their times, with one timer for all. A late step does not delay the
 * next one: times are absolute, so the steps do not drift.
 */
export class Schedule implements Disposable {
  /** A binary heap: the earliest step is first. */
  readonly #heap: { readonly dueMs: number; readonly step: Step }[] = [];
  #timer: NodeJS.Timeout | undefined;
  #timerMs = Infinity;

  at(dueMs: number, step: Step): void {
    const heap = this.#heap;
    let place = heap.push({ dueMs, step }) - 1;
    while (place > 0) {
      const above = (place - 1) >> 1;
      if (!this.#isEarlier(place, above)) break;
      this.#swap(place, above);
      place = above;
    }
    if (dueMs < this.#timerMs) this.#arm(dueMs);
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    this.#heap.length = 0;
  }

  #arm(dueMs: number): void {
    clearTimeout(this.#timer);
    this.#timerMs = dueMs;
    this.#timer = setTimeout(() => this.#run(), Math.max(1, Math.ceil(dueMs - performance.now())));
  }

  #run(): void {
    this.#timerMs = -Infinity;
    for (;;) {
      const first = this.#heap[0];
      // The first step is checked again after each step, because other steps may have become due.
      if (!first || first.dueMs > performance.now()) break;
      this.#removeFirst();
      first.step(first.dueMs);
    }
    this.#timerMs = Infinity;
    const next = this.#heap[0];
    if (next) this.#arm(next.dueMs);
  }

  #removeFirst(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (!last || heap.length === 0) return;
    heap[0] = last;
    for (let place = 0; ;) {
      const [left, right] = [2 * place + 1, 2 * place + 2];
      let earliest = place;
      if (this.#isEarlier(left, earliest)) earliest = left;
      if (this.#isEarlier(right, earliest)) earliest = right;
      if (earliest === place) return;
      this.#swap(place, earliest);
      place = earliest;
    }
  }

  #isEarlier(one: number, other: number): boolean {
    return (this.#heap[one]?.dueMs ?? Infinity) < (this.#heap[other]?.dueMs ?? Infinity);
  }

  #swap(one: number, other: number): void {
    const [a, b] = [this.#heap[one], this.#heap[other]];
    if (!a || !b) return;
    this.#heap[one] = b;
    this.#heap[other] = a;
  }
}
