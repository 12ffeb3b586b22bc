interface Entry<T> {
  readonly text: string;
  value: T;
}

/**
 * A map whose keys are looked up as parts of a longer text, without making a string of the part: a
 * substring costs an allocation, and a Map hashes every character of a text that it has not seen
 * before.
 */
export class LiteralTable<T> {
  readonly #entries = new Map<string, Entry<T>>();
  /** The entries again in open addressing, at most a quarter full. */
  #slots: (Entry<T> | undefined)[] = [undefined];
  #lengthMax = 0;
  /**
   * The keys are so much alike that some have no slot near where they are looked for, and so none
   * at all.
   */
  #isCrowded = false;

  get size(): number {
    return this.#entries.size;
  }

  get(text: string): T | undefined {
    return this.#entries.get(text)?.value;
  }

  set(text: string, value: T): void {
    const known = this.#entries.get(text);
    if (known !== undefined) {
      known.value = value;
      return;
    }
    const entry = { text, value };
    this.#entries.set(text, entry);
    this.#lengthMax = Math.max(this.#lengthMax, text.length);
    if (this.#slots.length >= this.#entries.size * 4) {
      this.#place(entry);
      return;
    }
    this.#slots = Array.from({ length: Math.max(4, this.#slots.length * 2) }, () => undefined);
    this.#isCrowded = false;
    for (const entry of this.#entries.values()) this.#place(entry);
  }

  #place(entry: Entry<T>): void {
    const mask = this.#slots.length - 1;
    let slot = hashOf(entry.text, 0, entry.text.length) & mask;
    for (let steps = 0; this.#slots[slot] !== undefined; steps++) {
      if (steps === stepsMax) {
        this.#isCrowded = true;
        return;
      }
      slot = (slot + 1) & mask;
    }
    this.#slots[slot] = entry;
  }

  *[Symbol.iterator](): Generator<[string, T]> {
    for (const { text, value } of this.#entries.values()) yield [text, value];
  }

  /** The value of the key that stands in `text` from `start` to `end`. */
  find(text: string, start: number, end: number): T | undefined {
    if (end - start > this.#lengthMax) return undefined;
    const slots = this.#slots;
    const mask = slots.length - 1;
    for (let slot = hashOf(text, start, end) & mask; ; slot = (slot + 1) & mask) {
      const entry = slots[slot];
      if (entry === undefined) return this.#isCrowded ? this.#crowded(text, start, end) : undefined;
      if (entry.text.length === end - start && text.startsWith(entry.text, start))
        return entry.value;
    }
  }

  #crowded(text: string, start: number, end: number): T | undefined {
    return this.get(text.slice(start, end));
  }
}

/** Keys that are this far from their slot cost more than a Map. */
const stepsMax = 8;

/** Cheap and good enough for the names of one API: the length and two characters. */
function hashOf(text: string, start: number, end: number): number {
  return (
    text.charCodeAt(end - 1) * 7 + text.charCodeAt((start + end) >> 1) * 31 + (end - start) * 131
  );
}
