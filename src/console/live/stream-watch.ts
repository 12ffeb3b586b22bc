/**
 * A stream that takes nothing and says nothing for so long is dead, whatever the browser believes.
 */
const stillMsMax = 20_000;
/** A stream that is refused is so at its first audio: one that takes some for so long is open. */
const openMsMin = 1_000;

/** Watches whether a stream is alive: a network may be gone without a word. */
export class StreamWatch implements Disposable {
  readonly #timer: ReturnType<typeof setInterval>;
  readonly #tells: { readonly onStill: () => void; readonly onOpen: () => void };
  #movedAt = performance.now();
  #firstMovedAt: number | undefined;

  /** `isDue`: whether anything is expected to move. */
  constructor(tells: {
    readonly isDue: () => boolean;
    readonly onStill: () => void;
    readonly onOpen: () => void;
  }) {
    this.#tells = tells;
    addEventListener("offline", tells.onStill);
    this.#timer = setInterval(() => {
      if (!tells.isDue()) this.#movedAt = performance.now();
      else if (performance.now() - this.#movedAt > stillMsMax) tells.onStill();
    }, 1000);
  }

  /** It took something, or said something. */
  moved(): void {
    this.#movedAt = performance.now();
    this.#firstMovedAt ??= this.#movedAt;
    if (this.#movedAt - this.#firstMovedAt > openMsMin) this.#tells.onOpen();
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    removeEventListener("offline", this.#tells.onStill);
  }
}
