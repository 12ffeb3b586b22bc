/** The time in ms that work takes at once where the browser does not say when it is idle. */
const sliceMs = 4;
/** The time in ms after which work goes on although the page is busy. */
const lateMs = 500;
/** The time in ms by which work ends before the browser needs its thread again. */
const spareMs = 2;

/**
 * Does work in small steps when the page has nothing else to do, so that keys are not late. `step`
 * returns whether there is more to do.
 */
export class WhenIdle implements Disposable {
  readonly #step: () => boolean;
  #stop: (() => void) | undefined;

  constructor(step: () => boolean) {
    this.#step = step;
  }

  /** Begins to work, unless it does already. */
  begin(): void {
    this.#stop ??= whenIdle((hasTime) => {
      this.#stop = undefined;
      let isMore = true;
      do isMore = this.#step();
      while (isMore && hasTime());
      if (isMore) this.begin();
    });
  }

  [Symbol.dispose](): void {
    this.#stop?.();
    this.#stop = undefined;
  }
}

/** Calls a function when the page is idle. Returns a function that prevents the call. */
function whenIdle(work: (hasTime: () => boolean) => void): () => void {
  // Older versions of Safari do not have it.
  if (typeof globalThis.requestIdleCallback !== "function") {
    const timer = setTimeout(() => {
      const until = performance.now() + sliceMs;
      work(() => performance.now() < until);
    });
    return () => clearTimeout(timer);
  }
  const request = requestIdleCallback(
    (deadline) => work(() => deadline.timeRemaining() > spareMs),
    { timeout: lateMs },
  );
  return () => cancelIdleCallback(request);
}
