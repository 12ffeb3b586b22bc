import type { Recognition } from "../protocol/recognizer.ts";

/**
 * Interim results wait in order up to so many; past that a newer one takes the place of an older
 * one.
 */
const interimsMax = 16;
/** With so much waiting to be read, no more is to be heard until half of it is. */
const waitingMax = 64;

/** Hands the answers of an engine process to the one loop that reads them. */
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

  /** What was pushed is still read, then the loop ends: by throwing, with an error. */
  end(end: { readonly error?: unknown } = {}): void {
    this.#end ??= end;
    this.#makeRoom();
    this.#wake?.();
  }

  /** Something to wait for where too much waits to be read. */
  get room(): Promise<void> | undefined {
    return this.#room?.promise;
  }

  #makeRoom(): void {
    this.#room?.resolve();
    this.#room = undefined;
  }

  get isEnded(): boolean {
    return this.#end !== undefined;
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
