/** The output for progress, as process.stderr is. */
export interface EvaluationOutput {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

/**
 * Shows how many recordings are done and how much time is left: in one line that is redrawn on a
 * terminal, and otherwise in a line for each tenth.
 */
export class EvaluationProgress {
  readonly #output: EvaluationOutput;
  readonly #total: number;
  readonly #now: () => number;
  readonly #startedAt: number;
  #done = 0;
  #tenths = 0;

  constructor(total: number, output: EvaluationOutput, now = () => performance.now()) {
    this.#total = total;
    this.#output = output;
    this.#now = now;
    this.#startedAt = now();
  }

  readonly add = (): void => {
    this.#done += 1;
    const line = `${this.#done} of ${this.#total} recordings${this.#left()}`;
    if (this.#output.isTTY === true) {
      this.#output.write(`\r\u001B[K${line}`);
      return;
    }
    const tenths = Math.floor((10 * this.#done) / this.#total);
    if (tenths > this.#tenths) this.#output.write(`${line}\n`);
    this.#tenths = tenths;
  };

  /** Removes the line from a terminal. */
  end(): void {
    if (this.#output.isTTY === true && this.#done > 0) this.#output.write("\r\u001B[K");
  }

  #left(): string {
    if (this.#done === this.#total) return "";
    const passedMs = this.#now() - this.#startedAt;
    const seconds = Math.ceil((passedMs / this.#done / 1000) * (this.#total - this.#done));
    return `, ${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")} left`;
  }
}
