import type { RecognitionInput } from "../protocol/recognizer.ts";

export type InputSource = AsyncIterable<RecognitionInput> | Iterable<RecognitionInput>;

/**
 * An input whose pending read can be handed over to another reader, for example when a session is
 * replayed in another process.
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
   * Returns the next item, which is read at the first call, or undefined after the last item.
   * Throws any error of the source.
   */
  peek(): Promise<RecognitionInput | undefined> {
    return (this.#next ??= this.#read());
  }

  /** Consumes the item that peek() returned. */
  take(): void {
    if (!this.#isOver) this.#next = undefined;
  }

  /**
   * Creates only one promise for each item, for speed: every chunk of every stream passes through
   * here.
   */
  #read(): Promise<RecognitionInput | undefined> {
    this.#isReading = true;
    try {
      const next = this.#iterator.next();
      return next instanceof Promise
        ? next.then(this.#onItem, this.#onError)
        : Promise.resolve(this.#onItem(next));
    } catch (error) {
      return Promise.reject(this.#over(error));
    }
  }

  readonly #onItem = ({ done, value }: IteratorResult<RecognitionInput>) => {
    this.#isReading = false;
    if (done !== true) return value;
    this.#isOver = true;
    return undefined;
  };

  readonly #onError = (error: unknown): never => {
    throw this.#over(error);
  };

  #over(error: unknown): unknown {
    this.#isReading = false;
    this.#isOver = true;
    return error;
  }

  /** Closes the source. */
  async close(): Promise<void> {
    if (this.#isOver) return;
    this.#isOver = true;
    const closed = this.#iterator.return?.();
    // A generator that is waiting for its next item closes only after that item arrives, so this
    // does not wait for the generator.
    if (this.#isReading) void Promise.resolve(closed).catch(() => {});
    else await closed;
  }
}
