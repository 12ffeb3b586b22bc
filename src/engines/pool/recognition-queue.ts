import type { Recognition } from "../protocol/recognizer.ts";

/**
 * The number of waiting results from which a new interim result replaces the last one in the queue.
 */
const interimsMax = 16;
/**
 * The number of waiting results at which no more audio is sent until half of them have been read.
 */
const waitingMax = 64;

/** Passes the results of an engine process to the single loop that reads them. */
export class RecognitionQueue {
  #waiting: Recognition[] = [];
  #end: { readonly error?: unknown } | undefined;
  #wake: (() => void) | undefined;
  #room: PromiseWithResolvers<void> | undefined;

  push(recognition: Recognition): void {
    if (this.#end) return;
    const isFull = this.#waiting.length >= interimsMax;
    const last = this.#waiting.at(-1);
    if (isFull && last && isInterim(last) && isInterim(recognition)) this.#waiting.pop();
    this.#waiting.push(recognition);
    if (this.#waiting.length >= waitingMax) this.#room ??= Promise.withResolvers();
    this.#wake?.();
  }

  /**
   * Ends the loop after the results that were already pushed. If an error is passed, the loop
   * throws it.
   */
  end(end: { readonly error?: unknown } = {}): void {
    this.#end ??= end;
    this.#makeRoom();
    this.#wake?.();
  }

  /** A promise that resolves when there is room again; undefined while there is room. */
  get room(): Promise<void> | undefined {
    return this.#room?.promise;
  }

  #makeRoom(): void {
    this.#room?.resolve();
    this.#room = undefined;
  }

  async *read(): AsyncGenerator<Recognition, void, undefined> {
    for (;;) {
      const next = this.#waiting.shift();
      if (this.#waiting.length <= waitingMax / 2) this.#makeRoom();
      if (next) {
        yield next;
        continue;
      }
      if (this.#end) {
        if ("error" in this.#end) throw this.#end.error;
        return;
      }
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }
}

function isInterim({ isFinal, speechEvent }: Recognition): boolean {
  return !isFinal && speechEvent === undefined;
}
