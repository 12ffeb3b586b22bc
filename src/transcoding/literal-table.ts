interface Entry<T> {
  readonly text: string;
  readonly value: T;
}

/**
 * A map whose keys are looked up as parts of a longer text, without making a string of the part: a substring costs an
 * allocation, and a Map hashes every character of a text that it has not seen before.
 */
export class LiteralTable<T> {
  readonly #entries = new Map<string, T>();
  /** The entries again in open addressing, at most a quarter full. */
  #slots: (Entry<T> | undefined)[] = [undefined];
  #lengthMax = 0;

  get size(): number {
    return this.#entries.size;
  }

  get(text: string): T | undefined {
    return this.#entries.get(text);
  }

  set(text: string, value: T): void {
    this.#entries.set(text, value);
    this.#lengthMax = Math.max(this.#lengthMax, text.length);
    let size = 4;
    while (size < this.#entries.size * 4) size *= 2;
    this.#slots = Array.from({ length: size }, () => undefined);
    for (const [text, value] of this.#entries) {
      let slot = hashOf(text, 0, text.length) & (size - 1);
      while (this.#slots[slot] !== undefined) slot = (slot + 1) & (size - 1);
      this.#slots[slot] = { text, value };
    }
  }

  [Symbol.iterator](): MapIterator<[string, T]> {
    return this.#entries.entries();
  }

  /** The value of the key that stands in `text` from `start` to `end`. */
  find(text: string, start: number, end: number): T | undefined {
    if (end - start > this.#lengthMax) return undefined;
    const slots = this.#slots;
    const mask = slots.length - 1;
    for (let slot = hashOf(text, start, end) & mask; ; slot = (slot + 1) & mask) {
      const entry = slots[slot];
      if (entry === undefined) return undefined;
      if (entry.text.length === end - start && text.startsWith(entry.text, start))
        return entry.value;
    }
  }
}

/** Cheap and good enough for the names of one API: the length and two characters. */
function hashOf(text: string, start: number, end: number): number {
  return (
    text.charCodeAt(end - 1) * 7 + text.charCodeAt((start + end) >> 1) * 31 + (end - start) * 131
  );
}
