import process from "node:process";

/** Shows progress in one line of a terminal. Without a terminal it shows nothing. */
export class Display {
  readonly #isTerminal = process.stderr.isTTY;
  #shown = "";

  /** Shows a step with its share of all work, from 0 to 1. */
  progress(step: string, share: number): void {
    if (!this.#isTerminal) return;
    const cells = Math.round(20 * Math.min(1, Math.max(0, share)));
    const bar = `${"█".repeat(cells)}${"░".repeat(20 - cells)}`;
    this.#show(`${step}  ${bar}  ${Math.floor(100 * share)} %`);
  }

  /** Shows a text that the next one replaces, cut to the width of the terminal. */
  line(text: string): void {
    if (!this.#isTerminal) return;
    const width = (process.stderr.columns || 80) - 1;
    this.#show(text.length > width ? `…${text.slice(1 - width)}` : text);
  }

  /** Removes the line. */
  clear(): void {
    this.#show("");
  }

  #show(text: string): void {
    if (text === this.#shown) return;
    process.stderr.write(`\r\u001B[K${text}`);
    this.#shown = text;
  }
}
