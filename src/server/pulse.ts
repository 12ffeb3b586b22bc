/** Work that may wait a moment for other work. */
export interface Deferred {
  run(): void;
}

/** Between two beats; a beat comes earlier when this much waits. */
const everyMsDefault = 10;
const waitingMax = 32;

/**
 * Does small pieces of work together: at once, with this turn of the event loop, where nothing was done for a while, else at the
 * next beat. What is done for one caller after another runs several times as fast as the same done now and then (bench/RESULTS.md).
 */
export class Pulse {
  readonly #everyMs: number;
  #waiting: Deferred[] = [];
  /** A beat is planned, or the time after one is not yet over. */
  #timer: NodeJS.Timeout | undefined;
  #isDue = false;

  constructor(everyMs = everyMsDefault) {
    this.#everyMs = everyMs;
  }

  /** Runs it with the next beat, in order. */
  add(work: Deferred): void {
    this.#waiting.push(work);
    if (this.#isDue) return;
    if (this.#timer && this.#waiting.length < waitingMax) return;
    this.#isDue = true;
    setImmediate(() => this.#beat());
  }

  #beat(): void {
    this.#isDue = false;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const waiting = this.#waiting;
    if (waiting.length === 0) return;
    this.#waiting = [];
    this.#timer = setTimeout(() => this.#beat(), this.#everyMs);
    for (const work of waiting) work.run();
  }
}
