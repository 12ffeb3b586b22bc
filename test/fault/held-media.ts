import type { RequestListener } from "node:http";

/**
 * A server whose media stops in the middle: a download then waits until the test releases the rest.
 */
export class HeldMedia {
  readonly #bytes: Buffer;
  readonly #waiting = new Set<() => void>();
  #isHeld = false;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** The number of downloads that are waiting for the rest. */
  get waiting(): number {
    return this.#waiting.size;
  }

  hold(): void {
    this.#isHeld = true;
  }

  release(): void {
    this.#isHeld = false;
    for (const end of this.#waiting) end();
    this.#waiting.clear();
  }

  readonly listener: RequestListener = (_request, response) => {
    const half = this.#bytes.length >> 1;
    response.setHeader("content-length", this.#bytes.length);
    response.write(this.#bytes.subarray(0, half));
    const end = (): void => {
      response.end(this.#bytes.subarray(half));
    };
    if (!this.#isHeld) return end();
    this.#waiting.add(end);
    response.on("close", () => this.#waiting.delete(end));
  };
}
