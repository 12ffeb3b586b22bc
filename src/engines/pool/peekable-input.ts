import type { RecognitionInput } from "../protocol/recognizer.ts";

export type InputSource = AsyncIterable<RecognitionInput> | Iterable<RecognitionInput>;

/**
 * A recognition's input, where whoever waits for the next item may be relieved by another before it
 * comes.
 */
export class PeekableInput {
  readonly #iterator: AsyncIterator<RecognitionInput> | Iterator<RecognitionInput>;
  #next: Promise<RecognitionInput | undefined> | undefined;
  #isReading = false;
  #isOver = false;

  constructor(source: InputSource) {
    this.#iterator =
      Symbol.asyncIterator in source ? source[Symbol.asyncIterator]() : source[Symbol.iterator]();
  }

  /**
   * The next item, read when it is first asked for; undefined past the last one. Throws what the
   * source throws.
   */
  peek(): Promise<RecognitionInput | undefined> {
    return (this.#next ??= this.#read());
  }

  /** The item that peek() gave is used: the next one is another. */
  take(): void {
    if (!this.#isOver) this.#next = undefined;
  }

  /** One promise for an item, however it is read: every chunk of every stream comes this way. */
  #read(): Promise<RecognitionInput | undefined> {
    this.#isReading = true;
    try {
      const next = this.#iterator.next();
      return next instanceof Promise
        ? next.then(this.#took, this.#failed)
        : Promise.resolve(this.#took(next));
    } catch (error) {
      return Promise.reject(this.#over(error));
    }
  }

  readonly #took = ({ done, value }: IteratorResult<RecognitionInput>) => {
    this.#isReading = false;
    if (done !== true) return value;
    this.#isOver = true;
    return undefined;
  };

  readonly #failed = (error: unknown): never => {
    throw this.#over(error);
  };

  #over(error: unknown): unknown {
    this.#isReading = false;
    this.#isOver = true;
    return error;
  }

  /** Tells the source that nothing more is wanted. */
  async close(): Promise<void> {
    if (this.#isOver) return;
    this.#isOver = true;
    const closed = this.#iterator.return?.();
    // A generator that still waits for its next item ends only after that: nobody waits for it
    // here.
    if (this.#isReading) void Promise.resolve(closed).catch(() => {});
    else await closed;
  }
}
