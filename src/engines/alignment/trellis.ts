/** The scores of all states in one frame, and the choices of all frames. */
export class Trellis {
  /**
   * The score of the best path in each state, then `before` of each word, then a place to which no
   * path leads.
   */
  readonly states: Float64Array;
  /** For each word, the score of the best path that is in the gap before it. */
  readonly gaps: Float64Array;
  /** For each word, the score of the best path that has finished all words before this one. */
  readonly before: Float64Array;
  /** The scores of any sound, of blank, and of each token in this frame. */
  readonly scores: Float64Array;
  best = 0;
  /** The first and the last word whose paths are continued. */
  low = 0;
  high = 0;
  /** The choices of all frames. Another array replaces it when it is full. */
  choices = new Uint8Array(1 << 16);
  #used = 0;
  /** For each frame: its first word, and where its choices begin. */
  readonly #lows: number[] = [];
  readonly #entries: number[] = [];
  readonly #statesAt: number[] = [];

  constructor(wordCount: number, stateCount: number, tokenCount: number) {
    this.states = new Float64Array(stateCount + wordCount + 2).fill(-Infinity);
    this.before = this.states.subarray(stateCount, stateCount + wordCount + 1);
    this.scores = new Float64Array(tokenCount + 2);
    this.gaps = new Float64Array(wordCount + 1).fill(-Infinity);
    this.gaps[0] = 0;
  }

  beginFrame(): void {
    this.#entries.push(this.#used);
  }

  addChoice(choice: number): void {
    if (this.#entries.length > this.#lows.length) this.#lows.push(this.low);
    this.#grow(1);
    this.choices[this.#used++] = choice;
  }

  /** Makes room for the choices of states in this frame; returns where they begin in `choices`. */
  reserve(count: number): number {
    const at = this.#used;
    this.#statesAt.push(at);
    this.#grow(count);
    this.#used += count;
    return at;
  }

  lowAt(frame: number): number {
    return this.#lows[frame] ?? 0;
  }

  enteredAt(frame: number, index: number): number {
    return this.choices[(this.#entries[frame] ?? 0) + index - this.lowAt(frame)] ?? 0;
  }

  choiceAt(frame: number, place: number): number {
    return this.choices[(this.#statesAt[frame] ?? 0) + place] ?? 0;
  }

  #grow(count: number): void {
    if (this.#used + count <= this.choices.length) return;
    const grown = new Uint8Array(2 * (this.#used + count));
    grown.set(this.choices.subarray(0, this.#used));
    this.choices = grown;
  }
}
