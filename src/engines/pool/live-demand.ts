/** The time constant of the measurements; older ones have hardly any weight. */
const memorySeconds = 5;
/** The weight of the expectation, in seconds of measurements. */
const expectedSeconds = 1;

/**
 * The share of a core that a live session needs: at first as expected, and then increasingly as
 * measured.
 */
export class LiveDemand {
  #share: number;
  #measuredSeconds = 0;

  constructor(expectedShare: number) {
    this.#share = expectedShare;
  }

  /** Begins again on another machine, where the session is expected to need this share. */
  expect(share: number): void {
    this.#share = share;
    this.#measuredSeconds = 0;
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
