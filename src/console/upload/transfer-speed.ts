/**
 * The window over which the speed is measured: long enough for a steady value, short enough to
 * follow changes.
 */
const windowMs = 8_000;
/** The speed is unknown until it has been measured for this long. */
const measuredMsMin = 1_000;

interface Sample {
  readonly at: number;
  readonly bytes: number;
}

/** Measures the speed of a transfer from samples of its progress. */
export class TransferSpeed {
  #samples: Sample[] = [];

  /**
   * Records the progress. `at`: the time of a monotonic clock, in ms. If `bytes` is less than
   * before, the transfer has restarted.
   */
  note(bytes: number, at: number): void {
    if (bytes < (this.#samples.at(-1)?.bytes ?? 0)) this.#samples = [];
    this.#samples.push({ at, bytes });
    while ((this.#samples[1]?.at ?? at) <= at - windowMs) this.#samples.shift();
  }

  /**
   * Returns the current speed; undefined if it has not been measured for long enough yet, or if the
   * transfer has stalled.
   */
  bytesPerSecond(): number | undefined {
    const [first, last] = [this.#samples[0], this.#samples.at(-1)];
    if (!first || !last || last.at - first.at < measuredMsMin) return undefined;
    const speed = (1000 * (last.bytes - first.bytes)) / (last.at - first.at);
    return speed > 0 ? speed : undefined;
  }
}
