/**
 * A set of words, as a tree of their letters. A state represents the letters so far; 0 is the state
 * before the first letter.
 */
export class LetterTrie {
  /**
   * For each state: the letter that leads to it, its first child, its next sibling (0 is none), and
   * whether a word ends there.
   */
  #letters = new Int32Array(64);
  #children = new Int32Array(64);
  #siblings = new Int32Array(64);
  #isEnd = new Uint8Array(64);
  #count = 1;

  get stateCount(): number {
    return this.#count;
  }

  /** Adds a word and returns the state at its end. */
  add(letters: readonly number[]): number {
    let state = 0;
    for (const letter of letters) state = this.next(state, letter) ?? this.#append(state, letter);
    this.#isEnd[state] = 1;
    return state;
  }

  /** Returns the state after one more letter; undefined if no word continues with that letter. */
  next(state: number, letter: number): number | undefined {
    for (let child = this.#children[state] ?? 0; child !== 0; child = this.#siblings[child] ?? 0) {
      if (this.#letters[child] === letter) return child;
    }
    return undefined;
  }

  isEnd(state: number): boolean {
    return this.#isEnd[state] === 1;
  }

  #append(state: number, letter: number): number {
    const child = this.#count++;
    if (child === this.#letters.length) this.#grow();
    this.#letters[child] = letter;
    this.#siblings[child] = this.#children[state] ?? 0;
    this.#children[state] = child;
    return child;
  }

  #grow(): void {
    const length = 2 * this.#letters.length;
    const grown = (values: Int32Array) => {
      const larger = new Int32Array(length);
      larger.set(values);
      return larger;
    };
    this.#letters = grown(this.#letters);
    this.#children = grown(this.#children);
    this.#siblings = grown(this.#siblings);
    const isEnd = new Uint8Array(length);
    isEnd.set(this.#isEnd);
    this.#isEnd = isEnd;
  }
}
