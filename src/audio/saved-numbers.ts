/** Reads a saved state number by number, in the order in which it was written. */
export class SavedNumbers {
  readonly #numbers: readonly number[];
  #at = 0;

  constructor(numbers: readonly number[]) {
    this.#numbers = numbers;
  }

  /** Returns the next number; 0 after the last one. */
  next(): number {
    return this.#numbers[this.#at++] ?? 0;
  }

  /** Returns the next numbers, and never more than there are: the length comes from the state. */
  list(length = this.next()): readonly number[] {
    const from = this.#at;
    this.#at += Math.max(0, Math.trunc(length));
    return this.#numbers.slice(from, this.#at);
  }
}
