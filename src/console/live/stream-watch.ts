/** A stream that neither accepts audio nor returns results for this long has stalled. */
const stallMsMax = 20_000;
/**
 * How long a stream must have accepted audio to count as open. If a stream is refused, this happens
 * at its first audio.
 */
const openMsMin = 1_000;

/** Watches whether a stream is alive, because a network can fail without notice. */
export class StreamWatch implements Disposable {
  readonly #timer: ReturnType<typeof setInterval>;
  readonly #events: { readonly onStall: () => void; readonly onOpen: () => void };
  #movedAt = performance.now();
  #firstMovedAt: number | undefined;

  /** `isDue` returns whether progress is expected. */
  constructor(events: {
    readonly isDue: () => boolean;
    readonly onStall: () => void;
    readonly onOpen: () => void;
  }) {
    this.#events = events;
    addEventListener("offline", events.onStall);
    this.#timer = setInterval(() => {
      if (!events.isDue()) this.#movedAt = performance.now();
      else if (performance.now() - this.#movedAt > stallMsMax) events.onStall();
    }, 1000);
  }

  /** Records that the stream has accepted audio or returned a result. */
  moved(): void {
    this.#movedAt = performance.now();
    this.#firstMovedAt ??= this.#movedAt;
    if (this.#movedAt - this.#firstMovedAt > openMsMin) this.#events.onOpen();
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    removeEventListener("offline", this.#events.onStall);
  }
}
