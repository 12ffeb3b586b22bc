import { endUtterance, type RecognitionInput } from "./recognizer.ts";

type Source = AsyncIterable<RecognitionInput> | Iterable<RecognitionInput>;

/**
 * A recognition's input, read by number: what was read stays as long as it is short enough, so that another engine process
 * can be given it again.
 */
export class ReplayableInput {
  readonly #iterator: AsyncIterator<RecognitionInput> | Iterator<RecognitionInput>;
  readonly #keptSamplesMax: number;
  #kept: RecognitionInput[] = [];
  #keptSamples = 0;
  /** Items before these were given up. */
  #dropped = 0;
  #isOver = false;
  #reading: Promise<void> | undefined;

  constructor(source: Source, keptSamplesMax: number) {
    this.#iterator =
      Symbol.asyncIterator in source ? source[Symbol.asyncIterator]() : source[Symbol.iterator]();
    this.#keptSamplesMax = keptSamplesMax;
  }

  /** Whether item 0 can still be read. */
  get isWhole(): boolean {
    return this.#dropped === 0;
  }

  /** Item `index`, read when it is asked for; undefined past the last one. Throws what the source throws. */
  async at(index: number): Promise<RecognitionInput | undefined> {
    while (index >= this.#dropped + this.#kept.length && !this.#isOver) {
      await (this.#reading ??= this.#read());
    }
    return this.#kept[index - this.#dropped];
  }

  async #read(): Promise<void> {
    try {
      const { done, value } = await this.#iterator.next();
      if (done) {
        this.#isOver = true;
        return;
      }
      this.#kept.push(value);
      this.#keptSamples += lengthOf(value);
      while (this.#keptSamples > this.#keptSamplesMax && this.#kept.length > 1) {
        this.#keptSamples -= lengthOf(this.#kept.shift());
        this.#dropped += 1;
      }
    } catch (error) {
      this.#isOver = true;
      throw error;
    } finally {
      this.#reading = undefined;
    }
  }

  /** Tells the source that nothing more is wanted. */
  async close(): Promise<void> {
    if (this.#isOver) return;
    this.#isOver = true;
    const closed = this.#iterator.return?.();
    // A generator that still waits for its next item ends only after that: nobody waits for it here.
    if (this.#reading) void Promise.resolve(closed).catch(() => {});
    else await closed;
  }
}

function lengthOf(input: RecognitionInput | undefined): number {
  return input === undefined || input === endUtterance ? 0 : input.length;
}
