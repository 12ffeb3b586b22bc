/** The memory used by a message in addition to its bytes. */
const sizeOfObject = 200;

/** The source of messages, which is a socket. */
export interface MessageSource {
  pause(): void;
  resume(): void;
}

/**
 * Passes messages from a socket to a method: events add messages, and `for await` reads them. The
 * socket is paused while more than `sizeMax` bytes wait, so that TCP slows down a fast sender and
 * nothing is dropped.
 */
export class MessageQueue<T> implements AsyncIterableIterator<T, undefined> {
  readonly #waiting: { message: T; size: number }[] = [];
  readonly #source: MessageSource;
  readonly #sizeMax: number;
  #size = 0;
  #isFull = false;
  #end: { error: unknown } | "ended" | undefined;
  #reader: PromiseWithResolvers<IteratorResult<T, undefined>> | undefined;

  constructor(source: MessageSource, sizeMax: number) {
    this.#source = source;
    this.#sizeMax = sizeMax;
  }

  get isEnded(): boolean {
    return this.#end !== undefined;
  }

  /** Adds a message of `size` bytes. Does nothing after the end. */
  push(message: T, size: number): void {
    if (this.#end !== undefined) return;
    if (this.#reader) {
      this.#reader.resolve({ done: false, value: message });
      this.#reader = undefined;
      return;
    }
    const held = size + sizeOfObject;
    this.#waiting.push({ message, size: held });
    this.#size += held;
    if (this.#size > this.#sizeMax && !this.#isFull) {
      this.#isFull = true;
      this.#source.pause();
    }
  }

  /** Ends the messages once the waiting ones have been read. */
  end(): void {
    if (this.#end !== undefined) return;
    this.#end = "ended";
    this.#reader?.resolve({ done: true, value: undefined });
  }

  /** Rejects the pending read immediately. Waiting messages are dropped. */
  fail(error: unknown): void {
    if (this.#end !== undefined && this.#end !== "ended") return;
    this.#end = { error };
    this.#waiting.length = 0;
    this.#reader?.reject(error);
  }

  next(): Promise<IteratorResult<T, undefined>> {
    const first = this.#waiting.shift();
    if (first) {
      this.#size -= first.size;
      if (this.#isFull && this.#size <= this.#sizeMax / 2) {
        this.#isFull = false;
        this.#source.resume();
      }
      return Promise.resolve({ done: false, value: first.message });
    }
    if (this.#end === "ended") return Promise.resolve({ done: true, value: undefined });
    if (this.#end) return Promise.reject(this.#end.error);
    this.#reader = Promise.withResolvers();
    return this.#reader.promise;
  }

  return(): Promise<IteratorResult<T, undefined>> {
    this.end();
    this.#waiting.length = 0;
    return Promise.resolve({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}
