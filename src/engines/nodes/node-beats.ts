/** The beats to an engine node, and its answers, of which none may be left out. */
export class NodeBeats {
  /** The beats that were sent and not answered, by their time. */
  readonly #unanswered: number[] = [];
  #last = 0;
  #answered = 0;
  #delayMs = 0;

  /** The number of beats that were not answered. */
  get unanswered(): number {
    return this.#unanswered.length;
  }

  /** The time that the last answered beat took. */
  get delayMs(): number {
    return this.#delayMs;
  }

  /** Returns the number of the next beat, which is sent now. */
  next(): number {
    this.#unanswered.push(performance.now());
    this.#last += 1;
    return this.#last;
  }

  /** Takes the answer to a beat. Throws if it answers none. */
  answer(number: number): void {
    const at = this.#unanswered.shift();
    if (at === undefined || number !== this.#answered + 1) throw new Error("it answered no beat");
    this.#answered = number;
    this.#delayMs = performance.now() - at;
  }
}
