/** What was measured this long ago still counts, and what was longer ago hardly. */
const memorySeconds = 5;
/** What was expected counts like so many seconds of measuring. */
const expectedSeconds = 1;

/**
 * The share of a core that a live session needs: what is expected of it at first, and more and more
 * what is measured.
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
