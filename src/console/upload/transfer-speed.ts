/**
 * Speed counts what was sent in the last while, so that it follows the network and does not jump.
 */
const windowMs = 8_000;
/** Before as much is known, nothing is said. */
const knownMs = 1_000;

interface Sample {
  readonly at: number;
  readonly bytes: number;
}

/** How fast something goes, from looks at how far it is. */
export class TransferSpeed {
  #samples: Sample[] = [];

  /** `at` in ms, of a clock that only goes on. Fewer bytes than before: it begins anew. */
  note(bytes: number, at: number): void {
    if (bytes < (this.#samples.at(-1)?.bytes ?? 0)) this.#samples = [];
    this.#samples.push({ at, bytes });
    while ((this.#samples[1]?.at ?? at) <= at - windowMs) this.#samples.shift();
  }

  /** undefined while too little is known, or nothing moves. */
  bytesPerSecond(): number | undefined {
    const [first, last] = [this.#samples[0], this.#samples.at(-1)];
    if (!first || !last || last.at - first.at < knownMs) return undefined;
    const speed = (1000 * (last.bytes - first.bytes)) / (last.at - first.at);
    return speed > 0 ? speed : undefined;
  }
}
