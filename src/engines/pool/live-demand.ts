/** The time constant of the measurements: older ones hardly count. */
const memorySeconds = 5;
/** The expectation counts like this many seconds of measurements. */
const expectedSeconds = 1;

/**
 * The share of a core that a live session needs: as expected at first, then more and more as
 * measured.
 */
export class LiveDemand {
  #share: number;
  #measuredSeconds = 0;

  constructor(expectedShare: number) {
    this.#share = expectedShare;
  }

  get share(): number {
    return this.#share;
  }

  measured(share: number, seconds: number): void {
    this.#measuredSeconds += seconds;
    const weight = Math.max(
      1 - Math.exp(-seconds / memorySeconds),
      seconds / (this.#measuredSeconds + expectedSeconds),
    );
    this.#share += weight * (share - this.#share);
  }
}
