import type { Recognition } from "../protocol/recognizer.ts";

/** When this many results wait, a new interim result replaces the last one that waits. */
const interimsMax = 16;
/** When this many results wait, no more audio is sent until half of them have been read. */
const waitingMax = 64;

/** Passes the results of an engine process to the one loop that reads them. */
export class RecognitionQueue {
  #waiting: Recognition[] = [];
  #end: { readonly error?: unknown } | undefined;
  #wake: (() => void) | undefined;
  #room: PromiseWithResolvers<void> | undefined;

  push(recognition: Recognition): void {
    if (this.#end) return;
    const isFull = this.#waiting.length >= interimsMax;
    const last = this.#waiting.at(-1);
    if (isFull && last && !last.isFinal && !recognition.isFinal) this.#waiting.pop();
    this.#waiting.push(recognition);
    if (this.#waiting.length >= waitingMax) this.#room ??= Promise.withResolvers();
    this.#wake?.();
  }

  /** Ends the loop after the results that were pushed; with an error, by throwing it. */
  end(end: { readonly error?: unknown } = {}): void {
    this.#end ??= end;
    this.#makeRoom();
    this.#wake?.();
  }

  /** A promise to wait for while too many results wait to be read. */
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
