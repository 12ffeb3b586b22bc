/** The speed is measured over this window: long enough not to jump, short enough to follow. */
const windowMs = 8_000;
/** Until this much time is measured, the speed is unknown. */
const measuredMsMin = 1_000;

interface Sample {
  readonly at: number;
  readonly bytes: number;
}

/** Measures the speed of a transfer from samples of its progress. */
export class TransferSpeed {
  #samples: Sample[] = [];

  /**
   * `at`: in ms, of a monotonic clock. Fewer bytes than before mean that the transfer restarted.
   */
  note(bytes: number, at: number): void {
    if (bytes < (this.#samples.at(-1)?.bytes ?? 0)) this.#samples = [];
    this.#samples.push({ at, bytes });
    while ((this.#samples[1]?.at ?? at) <= at - windowMs) this.#samples.shift();
  }

  /** undefined while too little is measured, or nothing moves. */
  bytesPerSecond(): number | undefined {
    const [first, last] = [this.#samples[0], this.#samples.at(-1)];
    if (!first || !last || last.at - first.at < measuredMsMin) return undefined;
    const speed = (1000 * (last.bytes - first.bytes)) / (last.at - first.at);
    return speed > 0 ? speed : undefined;
  }
}
